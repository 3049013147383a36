/// Rows whose label is missing: which they are, in every format, and that they become lines to
/// predict.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "convert/convert_avazu.h"
#include "convert/convert_criteo.h"
#include "convert/convert_harness.h"
#include "convert/convert_kdd2012.h"
#include "convert/convert_libffm.h"

namespace leveret::convert {
namespace {

template <class Made, class... Args>
auto maker(Args... args) {
  return [=](ConvertCallbacks c) { return std::make_unique<Made>(args..., std::move(c)); };
}

const std::vector<std::string> kWords = {"1",  "0",   "-1",   "yes", "no", "NA",
                                         "?",  "nan", "\\N",  "2",   "x",  "yes, please",
                                         " 1", "NA ", "null", "",    "  "};

std::string without_blanks(std::string word) {
  while (word.starts_with(' ')) word.erase(0, 1);
  while (word.ends_with(' ')) word.pop_back();
  return word;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end() ||
         std::find(list.begin(), list.end(), without_blanks(word)) != list.end();
}

/// What the manual says of a label: "1", "-1", "" (a line to predict) or "bad".
std::string expected(const CsvOptions& options, const std::string& word) {
  const std::string bare = without_blanks(word);
  if (has(options.positive, word)) return "1";
  if (bare.empty() || has(options.missing, word)) return "";
  if (!options.positive.empty()) return "-1";
  if (bare == "1" || bare == "yes") return "1";
  return bare == "0" || bare == "-1" || bare == "no" ? "-1" : "bad";
}

TEST_CASE("csv: missing words and positive words, on every label") {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    CsvOptions options;
    for (const std::string& word : kWords) {
      if (without_blanks(word).empty()) continue;
      const unsigned list = random() % 4;
      if (list == 0) options.missing.push_back(word);
      if (list == 1 && round % 3 != 0) options.positive.push_back(word);
    }
    std::string source = "u,label\n", want;
    std::uint64_t bad = 0, unlabelled = 0;
    for (int row = 0; row < 30; ++row) {
      const std::string& word = kWords[random() % kWords.size()];
      source += "a,\"" + word + "\"\n";
      const std::string label = expected(options, word);
      if (label == "bad") {
        ++bad;
        continue;
      }
      unlabelled += label.empty();
      want += label + (label.empty() ? "" : " ") + "|u a\n";
    }
    const Converted got = convert_text(maker<CsvConverter>(options), source, 1 + random() % 50);
    INFO(source);
    REQUIRE(got.text == want);
    REQUIRE(got.counts.bad == bad);
    REQUIRE(got.counts.unlabelled == unlabelled);
  }
}

struct Format {
  std::string name;
  std::function<std::unique_ptr<Converter>(ConvertCallbacks)> make;
  std::string before, positive, negative, missing;  ///< of a row, up to the label and with it
  std::string after;                                ///< the rest, @ for a random cell
};

std::vector<Format> formats() {
  const std::string tabs13(13, '\t'), tabs25(25, '\t');
  const std::string avazu = ",14102123,1,2,@,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21";
  return {{"criteo", maker<CriteoConverter>(NumericForm::kLog2Bucket), "", "1\t", "0\t", "\t",
           "5" + tabs13 + "@" + tabs25},
          {"avazu", maker<CsvConverter>(avazu_options()), "99,", "1", "0", "", avazu},
          {"kdd2012", maker<Kdd2012Converter>(), "", "1\t1\t", "0\t1\t", "\t\t",
           "10\t@\t30\t2\t1\t40\t50\t60\t70\t8"},
          {"libffm", maker<LibffmConverter>(LibffmFields{}), " ", "1 ", "-1 ", "", "0:@:1 2:7:0.5"},
          {"libsvm", maker<LibffmConverter>(LibffmFields{}), "", "+1\t", "0 ", "", "@:1 9:2 # 1"}};
}

TEST_CASE("in every format a row whose label is missing is a line to predict") {
  std::mt19937 random(7);
  for (const Format& format : formats()) {
    INFO(format.name);
    for (int round = 0; round < 200; ++round) {
      std::string source, want;
      std::uint64_t unlabelled = 0;
      for (unsigned row = 1 + random() % 6; row > 0; --row) {
        const unsigned kind = random() % 3;
        std::string rest = format.after;
        rest.replace(rest.find('@'), 1, std::to_string(random() % 1000 + 1));
        const std::string labels[] = {format.missing, format.negative, format.positive};
        source += format.before + labels[kind] + rest + (random() % 2 ? "\n" : "\r\n");
        // The reference is the same row alone, labelled.
        std::string line = convert_text(format.make, format.before + labels[2] + rest).text;
        REQUIRE(line.starts_with("1 |"));
        line.erase(0, 2);
        want += (kind == 0 ? "" : kind == 1 ? "-1 " : "1 ") + line;
        unlabelled += kind == 0;
      }
      const Converted got = convert_text(format.make, source, 1 + random() % 60);
      INFO(source);
      REQUIRE(got.bad.empty());
      REQUIRE(got.text == want);
      REQUIRE(got.counts.unlabelled == unlabelled);
    }
  }
}

TEST_CASE("a row that is bad is not counted as one without a label") {
  const Converted got = convert_text(maker<LibffmConverter>(LibffmFields{}), "1:1 2:x\n1:1\n");
  CHECK(got.bad.size() == 1);
  CHECK(got.counts.unlabelled == 1);
  CHECK(
      convert_text(maker<Kdd2012Converter>(), "\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n").bad.size() ==
      1);  // half a label is none that is missing
}

}  // namespace
}  // namespace leveret::convert
