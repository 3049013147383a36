/// A column of raw rows: what its values are, and how they become features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::schema {

enum class Kind : std::uint8_t {
  kOpen,      ///< no value has come yet by which to tell
  kLabel,     ///< clicked or not
  kWeight,    ///< the importance of the row
  kTag,       ///< stands beside the row's prediction
  kId,        ///< names the row, nearly one each: no feature
  kIgnore,    ///< no feature
  kCategory,  ///< a feature for each value
  kNumber,    ///< features by NumberForm
  kList,      ///< several categories
  kText,      ///< words
  kDate,      ///< a day or a time (date.h)
};

/// How a number v becomes features of its column's namespace.
enum class NumberForm : std::uint8_t {
  /// By two knots around v, `bI:1-t bJ:t` where v lies t of the way from knot I to the next one, J:
  /// piecewise linear in v (Gorishniy et al. 2022, On Embeddings for Numerical Features, section
  /// 3.1; our basis are the hats of the knots, theirs the steps, and both span the same functions).
  kLinear,
  kHard,   ///< `bN`, N the number of edges that are not above v
  kLog2,   ///< `bN`, as `leveret convert csv --numeric` makes it (convert/convert_numeric.h)
  kSqrt,   ///< `rN`, N = floor(sqrt(|v|)), `r-N` where v is negative
  kValue,  ///< `v`, with the value sign(v) ln(1 + |v|)
};

struct Column {
  static constexpr std::uint32_t kUsualBins = 12, kMostBins = 1000;
  static constexpr std::uint32_t kUsualWords = 100, kMostWords = 100'000;

  std::string name;
  Kind kind = Kind::kOpen;

  NumberForm form = NumberForm::kLinear;
  std::uint32_t bins = kUsualBins;  ///< kLinear, kHard: at most, where edges are not given
  /// Ascending, all different: knots of kLinear, edges of kHard. Empty: no number has come yet.
  std::vector<double> edges;
  /// Whether a missing number is a feature of its own, and a word for missing one of a category.
  /// Not where hardly a row of numbers has a value, and not in a column that was open until after
  /// the first rows: what these became is to stay as it was.
  bool missing_feature = true;
  std::vector<std::string> positive;  ///< labels that are clicks; empty: see convert::read_label
  char separator = '|';               ///< between the values of a list
  std::uint32_t words = kUsualWords;  ///< of a text, at most
  /// The column of another date, at which a date's age is told as a feature. Empty: none.
  std::string age_at;

  bool has_edges() const {
    return kind == Kind::kNumber && (form == NumberForm::kLinear || form == NumberForm::kHard);
  }
  /// Whether it waits for a value.
  bool is_open() const { return kind == Kind::kOpen || (has_edges() && edges.empty()); }
  /// Whether its values become features.
  bool is_feature() const { return kind >= Kind::kCategory; }
  bool operator==(const Column&) const = default;
};

std::string_view kind_name(Kind kind);

/// "number:bins=20", as --column has it behind NAME= and a schema's text behind the name.
/// std::runtime_error says what is wrong, for who knows the column.
Column parse_column(std::string name, std::string_view text);
/// "NAME=KIND:…": the first `=` with a kind behind it ends the name. std::runtime_error likewise.
Column parse_named_column(std::string_view text);
/// The text that parse_column takes back to the same; what is as usual is left out.
std::string column_text(const Column& column);

}  // namespace leveret::schema
