/// The facts of a column that the first rows show, by which its kind and its bins are chosen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "schema/row.h"

namespace leveret::schema {

class Sample {
 public:
  static constexpr std::size_t kExamples = 3;

  /// The column's cell of the next row.
  void add(const Row& row, const Cell& cell);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t missing() const { return missing_; }
  std::uint64_t present() const { return rows_ - missing_; }
  std::uint64_t different() const { return different_.size(); }
  /// The first different values, as far as a table has room for them.
  const std::vector<std::string>& examples() const { return examples_; }

  /// The numbers among its values, in order.
  const std::vector<double>& numbers() const { return numbers_; }
  /// Whether there are values, and all are numbers; likewise, whole ones, and ones of codes: whole,
  /// and one has a 0 in front, or more digits than a double tells apart.
  bool all_numbers() const { return present() > 0 && numbers_.size() == present(); }
  bool all_whole() const { return all_numbers() && whole_ == present(); }
  bool has_codes() const { return codes_ > 0; }
  /// Whether all values are dates, or times since 1970 from 2001 on.
  bool all_dates() const { return present() > 0 && dates_ == present(); }
  /// Whether each number is above the one before.
  bool ascends() const { return all_numbers() && ascends_; }

  bool has_lists() const { return lists_ > 0; }
  /// Values with a `|` in them, and words of all values.
  std::uint64_t separated() const { return separated_; }
  std::uint64_t words() const { return words_; }

 private:
  void add_text(std::string_view text);
  void add_number(std::string_view text);

  std::uint64_t rows_ = 0, missing_ = 0, whole_ = 0, codes_ = 0;
  std::uint64_t lists_ = 0, separated_ = 0, words_ = 0, dates_ = 0;
  bool ascends_ = true;
  std::vector<double> numbers_;
  std::unordered_set<std::uint64_t> different_;  ///< hashes
  std::vector<std::string> examples_;
};

}  // namespace leveret::schema
