#include "schema/number_bins.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "convert/convert_numeric.h"
#include "convert/convert_vw.h"
#include "schema/cell_text.h"

namespace leveret::schema {
namespace {

constexpr std::string_view kMissingWords[] = {"na",  "nan", "n/a", "null", "none",
                                              "nil", "\\n", "?",   "-",    "missing"};

char* put_whole(char* out, char kind, std::uint64_t number) {
  *out++ = kind;
  return std::to_chars(out, out + 20, number).ptr;
}

/// `bN:0.NNN`, or `bN` where all of it lies there.
char* put_share(char* out, std::uint64_t knot, int thousandths) {
  out = put_whole(out, 'b', knot);
  if (thousandths == 1000) return out;
  out = convert::put(out, ":0.");
  *out++ = static_cast<char>('0' + thousandths / 100);
  *out++ = static_cast<char>('0' + thousandths / 10 % 10);
  *out++ = static_cast<char>('0' + thousandths % 10);
  return out;
}

char* put_between(char* out, const std::vector<double>& knots, double v) {
  const auto above = std::upper_bound(knots.begin(), knots.end(), v);
  if (above == knots.begin()) return put_share(out, 0, 1000);
  const auto below = static_cast<std::size_t>(above - knots.begin()) - 1;
  if (above == knots.end()) return put_share(out, below, 1000);
  const double low = knots[below], high = *above;
  // Halves, so that no difference is beyond a double's range.
  const double way = (v / 2 - low / 2) / (high / 2 - low / 2);
  const int part = static_cast<int>(way * 1000 + 0.5);
  if (part == 0) return put_share(out, below, 1000);
  if (part == 1000) return put_share(out, below + 1, 1000);
  out = put_share(out, below, 1000 - part);
  *out++ = ' ';
  return put_share(out, below + 1, part);
}

char* put_root(char* out, double v) {
  const double root = std::floor(std::sqrt(std::fabs(v)));
  const auto number = static_cast<std::uint64_t>(std::min(root, 1e18));
  *out++ = 'r';
  if (v < 0 && number > 0) *out++ = '-';
  return std::to_chars(out, out + 20, number).ptr;
}

}  // namespace

std::vector<double> quantiles(std::vector<double> numbers, NumberForm form, std::uint32_t bins) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<double> different = numbers;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const bool linear = form == NumberForm::kLinear;
  if (different.size() <= bins + (linear ? 1u : 0u)) return different;
  std::vector<double> edges;
  const std::size_t count = numbers.size();
  if (linear) {
    for (std::size_t i = 0; i <= bins; ++i) edges.push_back(numbers[i * (count - 1) / bins]);
  } else {
    for (std::size_t i = 1; i < bins; ++i) edges.push_back(numbers[i * count / bins]);
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

bool is_missing_number(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 7) return false;
  char word[7];
  std::ranges::transform(text, word, lower);
  return std::ranges::find(kMissingWords, std::string_view(word, text.size())) !=
         std::end(kMissingWords);
}

char* put_number(char* out, const Column& column, double v) {
  switch (column.form) {
    case NumberForm::kLinear:
      return put_between(out, column.edges, v);
    case NumberForm::kHard: {
      const auto above = std::upper_bound(column.edges.begin(), column.edges.end(), v);
      return put_whole(out, 'b', static_cast<std::uint64_t>(above - column.edges.begin()));
    }
    case NumberForm::kSqrt:
      return put_root(out, v);
    case NumberForm::kLog2:
      return convert::put_real_feature(out, v, convert::NumericForm::kLog2Bucket);
    case NumberForm::kValue:
      return convert::put_real_feature(out, v, convert::NumericForm::kValue);
  }
  return out;
}

}  // namespace leveret::schema
