#include "cache/cache_column.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>

#include "files/bytes.h"

namespace leveret::cache {
namespace {

constexpr std::uint32_t kEscape = 255;

std::uint32_t load(const char* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void ColumnEncoder::encode(const std::vector<std::uint32_t>& values, std::string& to) {
  count_values(values);
  if (seen_.size() == 1) {
    files::put<std::uint8_t>(to, PackedColumn::kConstant);
    files::put(to, values[0]);
    return;
  }
  choose_codes();
  std::size_t covered = 0;
  for (const std::uint32_t i : coded_) covered += seen_[i].count;
  const std::size_t coded_size = values.size() + 4 * (coded_.size() + values.size() - covered);
  if (coded_size < 4 * values.size()) {
    put_coded(values, to);
  } else {
    files::put<std::uint8_t>(to, PackedColumn::kRaw);
    files::put_array(to, values.data(), values.size());
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
  files::put<std::uint8_t>(to, PackedColumn::kCoded);
  files::put(to, static_cast<std::uint32_t>(coded_.size()));
  for (const std::uint32_t i : coded_) files::put(to, seen_[i].value);
  std::uint32_t escaped = 0;
  for (const std::uint32_t i : seen_of_) {
    to += static_cast<char>(seen_[i].code);
    escaped += seen_[i].code == kEscape;
  }
  files::put(to, escaped);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (seen_[seen_of_[i]].code == kEscape) files::put(to, values[i]);
  }
}

PackedColumn::PackedColumn(files::BytesReader& from, std::size_t count) {
  const auto kind = from.get<std::uint8_t>();
  from.check(kind <= kCoded, "a column is of an unknown kind");
  kind_ = static_cast<Kind>(kind);
  if (kind_ != kCoded) {
    values_ = from.take_array(kind_ == kRaw ? count : 1, 4).data();
    return;
  }
  const auto n = from.get<std::uint32_t>();
  from.check(n <= kEscape, "a column has too many codes");
  coded_ = n;
  values_ = from.take_array(n, 4).data();
  codes_ = reinterpret_cast<const unsigned char*>(from.take(count).data());
  std::size_t escapes = 0;
  unsigned char highest = 0;  // of 1 + code, and 0 for escapes
  for (std::size_t i = 0; i < count; ++i) {
    escapes += codes_[i] == kEscape;
    highest = std::max(highest, static_cast<unsigned char>(codes_[i] + 1));
  }
  from.check(highest <= n, "a column has a code without a value");
  const auto m = from.get<std::uint32_t>();
  from.check(m == escapes, "a column has other escapes than codes for them");
  escaped_ = from.take_array(m, 4).data();
}

void PackedColumn::next(std::size_t count, std::uint32_t* out) {
  if (count == 0) return;
  switch (kind_) {
    case kRaw:
      std::memcpy(out, values_, 4 * count);
      values_ += 4 * count;
      return;
    case kConstant:
      std::fill_n(out, count, load(values_));
      return;
    case kCoded:
      next_coded(count, out);
  }
}

void PackedColumn::next_coded(std::size_t count, std::uint32_t* out) {
  std::uint32_t values[kEscape + 1];  // that of an escape is read, and not used
  std::memcpy(values, values_, 4 * coded_);
  // Up to the last escape there always is a next one to read, so it is read each time and taken or
  // not without a branch: which values are rare is unpredictable.
  const auto* last = static_cast<const unsigned char*>(memrchr(codes_, kEscape, count));
  const std::size_t mixed = last ? static_cast<std::size_t>(last - codes_) + 1 : 0;
  const unsigned char* const code = codes_;
  const char* next = escaped_;
  for (std::size_t i = 0; i < mixed; ++i) {
    const std::uint32_t is_rare = code[i] == kEscape;
    const std::uint32_t rare = load(next), frequent = values[code[i]];
    out[i] = frequent ^ ((rare ^ frequent) & (0u - is_rare));
    next += 4 * is_rare;
  }
  for (std::size_t i = mixed; i < count; ++i) out[i] = values[code[i]];
  codes_ += count;
  escaped_ = next;
}

void PackedColumn::prefetch(std::size_t count) const {
  constexpr std::size_t kLine = 64;
  if (kind_ != kCoded) return;  // what comes is one stream
  for (std::size_t at = 0; at < count + kLine; at += kLine) __builtin_prefetch(codes_ + at);
  __builtin_prefetch(values_);
  // A quarter of the values is rare where few are not.
  for (std::size_t at = 0; at < count + kLine; at += kLine) __builtin_prefetch(escaped_ + at);
}

}  // namespace leveret::cache
