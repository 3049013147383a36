#include "stream/cache_column.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>

namespace leveret::stream {
namespace {

enum Kind : std::uint8_t { kRaw, kConstant, kCoded };

constexpr std::uint32_t kEscape = 255;

}  // namespace

void ColumnEncoder::encode(const std::vector<std::uint32_t>& values, std::string& to) {
  count_values(values);
  if (seen_.size() == 1) {
    put<std::uint8_t>(to, kConstant);
    put(to, values[0]);
    return;
  }
  choose_codes();
  std::size_t covered = 0;
  for (const std::uint32_t i : coded_) covered += seen_[i].count;
  const std::size_t coded_size = values.size() + 4 * (coded_.size() + values.size() - covered);
  if (coded_size < 4 * values.size()) {
    put_coded(values, to);
  } else {
    put<std::uint8_t>(to, kRaw);
    put_array(to, values.data(), values.size());
  }
}

void ColumnEncoder::count_values(const std::vector<std::uint32_t>& values) {
  const std::size_t slots = std::bit_ceil(2 * values.size() + 1);
  slots_.assign(slots, 0);
  seen_.clear();
  seen_of_.resize(values.size());
  const int shift = 64 - std::countr_zero(slots);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Fibonacci hashing: feature hashes are mixed already, float bits are not.
    std::size_t slot = values[i] * 0x9e3779b97f4a7c15u >> shift;
    while (slots_[slot] != 0 && seen_[slots_[slot] - 1].value != values[i]) {
      slot = (slot + 1) & (slots - 1);
    }
    if (slots_[slot] == 0) {
      seen_.push_back({values[i], 0, kEscape});
      slots_[slot] = static_cast<std::uint32_t>(seen_.size());
    }
    seen_of_[i] = slots_[slot] - 1;
    ++seen_[seen_of_[i]].count;
  }
}

/// The most frequent values get codes, the lowest codes first. A value that comes once is no
/// shorter with a code.
void ColumnEncoder::choose_codes() {
  coded_.clear();
  for (std::uint32_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].count > 1) coded_.push_back(i);
  }
  const std::size_t n = std::min<std::size_t>(coded_.size(), kEscape);
  const auto more_frequent = [this](std::uint32_t a, std::uint32_t b) {
    return seen_[a].count != seen_[b].count ? seen_[a].count > seen_[b].count : a < b;
  };
  std::partial_sort(coded_.begin(), coded_.begin() + static_cast<std::ptrdiff_t>(n), coded_.end(),
                    more_frequent);
  coded_.resize(n);
  for (std::uint32_t code = 0; code < n; ++code) seen_[coded_[code]].code = code;
}

void ColumnEncoder::put_coded(const std::vector<std::uint32_t>& values, std::string& to) {
  put<std::uint8_t>(to, kCoded);
  put(to, static_cast<std::uint32_t>(coded_.size()));
  for (const std::uint32_t i : coded_) put(to, seen_[i].value);
  std::uint32_t escaped = 0;
  for (const std::uint32_t i : seen_of_) {
    to += static_cast<char>(seen_[i].code);
    escaped += seen_[i].code == kEscape;
  }
  put(to, escaped);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (seen_[seen_of_[i]].code == kEscape) put(to, values[i]);
  }
}

void decode_column(BytesReader& from, std::size_t count, std::uint32_t* out) {
  switch (from.get<std::uint8_t>()) {
    case kRaw: {
      const std::string_view bytes = from.take_array(count, 4);
      if (count > 0) std::memcpy(out, bytes.data(), bytes.size());
      return;
    }
    case kConstant:
      std::fill_n(out, count, from.get<std::uint32_t>());
      return;
    case kCoded:
      break;
    default:
      throw BytesReader::BadBytes("a column is of an unknown kind");
  }
  const auto n = from.get<std::uint32_t>();
  from.check(n <= kEscape, "a column has too many codes");
  // A code that no value was given for must not reach beyond: it decodes to 0 from here.
  std::uint32_t values[256] = {};
  const std::string_view coded = from.take_array(n, 4);
  if (n > 0) std::memcpy(values, coded.data(), coded.size());
  const std::string_view codes = from.take(count);
  const auto m = from.get<std::uint32_t>();
  const std::string_view escaped = from.take_array(m, 4);
  from.check(m == static_cast<std::size_t>(std::count(codes.begin(), codes.end(), '\xff')),
             "a column has other escapes than codes for them");
  // Up to the last escape there always is a next one to read, so it is read each time and taken or
  // not without a branch: which values are rare is unpredictable.
  const auto* code = reinterpret_cast<const unsigned char*>(codes.data());
  const std::size_t last_escape = codes.rfind('\xff');
  const std::size_t mixed = last_escape == codes.npos ? 0 : last_escape + 1;
  const char* next = escaped.data();
  for (std::size_t i = 0; i < mixed; ++i) {
    std::uint32_t rare;
    std::memcpy(&rare, next, 4);
    const bool is_rare = code[i] == kEscape;
    out[i] = is_rare ? rare : values[code[i]];
    next += is_rare ? 4 : 0;
  }
  for (std::size_t i = mixed; i < count; ++i) out[i] = values[code[i]];
}

}  // namespace leveret::stream
