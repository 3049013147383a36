#include "schema/number_bins.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>

using namespace leveret::schema;

namespace {

Column number(NumberForm form, std::vector<double> edges) {
  Column column;
  column.kind = Kind::kNumber;
  column.form = form;
  column.edges = std::move(edges);
  return column;
}

std::string features(const Column& column, double v) {
  char room[kNumberRoom];
  return {room, put_number(room, column, v)};
}

/// The features of a number with their values, by name.
std::map<std::string, double> shares(const Column& column, double v) {
  std::map<std::string, double> all;
  std::string text = features(column, v) + ' ';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find(' ', at), colon = text.find(':', at);
    const bool has_value = colon < end;
    all[text.substr(at, std::min(end, colon) - at)] =
        has_value ? std::stod(text.substr(colon + 1, end - colon - 1)) : 1;
    at = end + 1;
  }
  return all;
}

}  // namespace

TEST_CASE("as many numbers lie between two quantiles as between others", "[schema]") {
  std::mt19937 random(5);
  std::lognormal_distribution<double> draw(3, 1);
  std::vector<double> numbers(10'000);
  for (double& n : numbers) n = draw(random);
  for (const NumberForm form : {NumberForm::kLinear, NumberForm::kHard}) {
    const std::vector<double> edges = quantiles(numbers, form, 12);
    REQUIRE(edges.size() == (form == NumberForm::kLinear ? 13 : 11));
    CHECK(std::ranges::is_sorted(edges));
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const auto within = std::ranges::count_if(
          numbers, [&](double n) { return n >= edges[i - 1] && n < edges[i]; });
      CHECK(std::abs(within - 10'000 / 12) < 3);
    }
  }
  CHECK(quantiles(numbers, NumberForm::kLinear, 12).front() == std::ranges::min(numbers));
  CHECK(quantiles(numbers, NumberForm::kLinear, 12).back() == std::ranges::max(numbers));
  CHECK(quantiles({}, NumberForm::kLinear, 12).empty());
  // Few different ones have a knot each, however often they come.
  CHECK(quantiles({3, 1, 1, 2, 1}, NumberForm::kLinear, 12) == std::vector<double>{1, 2, 3});
  std::vector<double> mostly_zero(1000, 0.0);
  for (int i = 0; i < 100; ++i) mostly_zero[i] = i;
  const std::vector<double> edges = quantiles(mostly_zero, NumberForm::kLinear, 12);
  CHECK(std::ranges::adjacent_find(edges) == edges.end());
  CHECK(edges.size() >= 2);
}

TEST_CASE("a number lies between its knots, by its nearness to each", "[schema]") {
  const Column column = number(NumberForm::kLinear, {0, 10, 20, 40});
  CHECK(features(column, -5) == "b0");
  CHECK(features(column, 0) == "b0");
  CHECK(features(column, 2.5) == "b0:0.750 b1:0.250");
  CHECK(features(column, 10) == "b1");
  CHECK(features(column, 39.999999) == "b3");
  CHECK(features(column, 30) == "b2:0.500 b3:0.500");
  CHECK(features(column, 1e308) == "b3");
  CHECK(features(number(NumberForm::kLinear, {7}), -1) == "b0");
  CHECK(features(number(NumberForm::kHard, {0, 10}), -1) == "b0");
  CHECK(features(number(NumberForm::kHard, {0, 10}), 0) == "b1");
  CHECK(features(number(NumberForm::kHard, {0, 10}), 11) == "b2");
  CHECK(features(number(NumberForm::kSqrt, {}), 26) == "r5");
  CHECK(features(number(NumberForm::kSqrt, {}), -26) == "r-5");
  CHECK(features(number(NumberForm::kLog2, {}), 5) == "b3");
  CHECK(features(number(NumberForm::kLog2, {}), 0) == "b0");
  CHECK(features(number(NumberForm::kValue, {}), 0).empty());
  CHECK(features(number(NumberForm::kValue, {}), 1.5) == "v:0.916291");
}

TEST_CASE("shares are a partition of one that gives the number back", "[schema]") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> edges(1 + random() % 30);
    const double scale = std::pow(10, static_cast<int>(random() % 600) - 300);
    for (double& e : edges) e = scale * (static_cast<double>(random()) / 2e9 - 1);
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const Column column = number(NumberForm::kLinear, edges);
    for (int i = 0; i < 20; ++i) {
      const double v = scale * (static_cast<double>(random()) / 2e9 - 1) * (i % 5 == 0 ? 1e5 : 1);
      double sum = 0, back = 0;
      for (const auto& [name, share] : shares(column, v)) {
        sum += share;
        back += share * edges.at(std::stoul(name.substr(1)));
      }
      CHECK(std::abs(sum - 1) < 1e-9);
      const double clamped = std::clamp(v, edges.front(), edges.back());
      CHECK(std::abs(back - clamped) <= 0.0006 * (edges.back() - edges.front()));
    }
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  const Column wide = number(NumberForm::kLinear, {-kMost, kMost});
  CHECK(features(wide, 0) == "b0:0.500 b1:0.500");
}

TEST_CASE("the usual words for a missing number", "[schema]") {
  for (const char* const word : {"", "NA", "NaN", "nan", "null", "None", "\\N", "?", "N/A"}) {
    CHECK(is_missing_number(word));
  }
  for (const char* const word : {"0", "-1", "x", "nano", "missing values", "inf"}) {
    CHECK_FALSE(is_missing_number(word));
  }
}
