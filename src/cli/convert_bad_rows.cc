#include "cli/convert_bad_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace leveret::cli {
namespace {

constexpr std::uint64_t kInFull = 10;

/// N of "max=N".
std::optional<std::uint64_t> read_maximum(std::string_view policy) {
  std::uint64_t n = 0;
  if (!policy.starts_with("max=")) return std::nullopt;
  policy.remove_prefix(4);
  auto [end, error] = std::from_chars(policy.data(), policy.data() + policy.size(), n);
  if (error != std::errc() || end != policy.data() + policy.size()) return std::nullopt;
  return n;
}

/// Up to 30 bytes of the row before the fault and 30 from it on; unprintable bytes as \xNN.
std::string excerpt(const text::BadRow& row) {
  std::size_t at = std::min<std::size_t>(row.column - 1, row.row.size());
  std::size_t from = at > 30 ? at - 30 : 0;
  std::string shown = from > 0 ? "..." : "";
  for (unsigned char c : row.row.substr(from, at - from + 30)) {
    if (c == '\t') {
      shown += "\\t";
    } else if (c < 0x20 || c >= 0x7f) {
      shown += fmt::format("\\x{:02x}", c);
    } else {
      shown += static_cast<char>(c);
    }
  }
  return at + 30 < row.row.size() ? shown + "..." : shown;
}

}  // namespace

std::string BadRows::check(const std::string& policy) {
  bool good = policy.empty() || policy == "fail" || policy == "skip" || read_maximum(policy);
  return good ? "" : fmt::format("'{}' is not one of fail, skip, max=N", policy);
}

BadRows::BadRows(const std::string& policy) {
  if (policy == "fail") most_ = 0;
  if (policy == "skip") most_ = std::numeric_limits<std::uint64_t>::max();
  if (auto n = read_maximum(policy)) most_ = n;
}

std::uint64_t BadRows::allowed(std::uint64_t rows) const {
  return most_.value_or(std::max<std::uint64_t>(10, rows / 100));
}

std::optional<std::string> BadRows::add(const std::string& source, const text::BadRow& row,
                                        std::uint64_t rows) {
  ++count_;
  if (count_ <= kInFull) {
    print_row(source, row);
  } else if (Clock::now() - last_print_ >= std::chrono::seconds(1)) {
    print_count();
  }
  if (count_ <= allowed(rows)) return std::nullopt;
  if (count_ > kInFull) print_row(source, row);
  return fmt::format("{}:{}: {} bad rows among the first {} are more than --bad_lines allows ({})",
                     source, row.line, count_, rows, allowed(rows));
}

void BadRows::print_row(const std::string& source, const text::BadRow& row) const {
  fmt::print(stderr, "leveret convert: {}:{}:{}: {}: \"{}\"\n", source, row.line, row.column,
             row.what, excerpt(row));
}

void BadRows::print_count() {
  fmt::print(stderr, "leveret convert: {} bad rows so far\n", count_);
  printed_ = count_;
  last_print_ = Clock::now();
}

void BadRows::finish() {
  if (count_ > kInFull && count_ > printed_) print_count();
}

}  // namespace leveret::cli
