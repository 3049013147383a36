/// What `convert` does about bad rows: reports them on stderr and says when they are too many.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "text/convert_rows.h"

namespace leveret::cli {

class BadRows {
 public:
  /// What is wrong with the value of --bad_lines; empty: nothing.
  static std::string check(const std::string& policy);
  /// `policy` as checked; empty: the default.
  explicit BadRows(const std::string& policy);

  /// Reports a row (the first ten in full, then a count at most once a second) and returns the
  /// error that ends the run when there are too many among the `rows` so far.
  std::optional<std::string> add(const std::string& source, const text::BadRow& row,
                                 std::uint64_t rows);
  /// Reports what has not been reported.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t allowed(std::uint64_t rows) const;
  void print_row(const std::string& source, const text::BadRow& row) const;
  void print_count();

  std::optional<std::uint64_t> most_;  ///< nullopt: the default
  std::uint64_t count_ = 0, printed_ = 0;
  Clock::time_point last_print_{};
};

}  // namespace leveret::cli
