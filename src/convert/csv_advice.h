/// Advice about options that the owner of delimited text, which reads well, may have forgotten.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::convert {

/// The byte by which the row has most columns, where it is a usual delimiter, other than
/// `delimiter`, and makes more than the `columns` that this one does.
std::optional<char> likelier_delimiter(std::string_view row, char delimiter, std::size_t columns);

/// "; if ... are between the columns, give --delimiter ...".
std::string delimiter_advice(char delimiter);

/// Looks at the cells of categories, whether they are numbers that hardly come twice.
class NumberColumns {
 public:
  static constexpr std::size_t kRows = 10000;  ///< that are looked at
  /// More different whole numbers, or others, than codes, days or marks would have.
  static constexpr std::size_t kWhole = 32, kFractions = 8;

  /// Begins with columns of these names.
  void start(std::vector<std::string> names);
  /// Whether further rows are looked at.
  bool wants_more() const { return rows_ < kRows && !columns_.empty(); }
  /// A cell of the row at hand that is not missing.
  void add(std::size_t column, std::string_view cell);
  void end_row() { ++rows_; }
  /// Names of the columns whose cells were all numbers, and so many different ones, with commas
  /// between; each once, however many sources have it. Ends the looking.
  std::string finish();

 private:
  struct Column {
    std::string name;
    bool numbers = true;  ///< all so far
    bool whole = true;
    std::set<std::string, std::less<>> different = {};  ///< at most kWhole + 1
  };

  std::vector<Column> columns_;
  std::size_t rows_ = 0;
  std::set<std::string> told_;
};

}  // namespace leveret::convert
