/// --columns: a table as people have them, in place of fields: an age, an income, a time on the
/// page, and six categories, in CSV with a header.
///
/// With u the place of a number among all of its column, the logit is
///   bias + sum over numbers of a wave of u + sum over categories of w(value)
///        + sum over four pairs of categories of <a(value), b(value)>, 4 wide
///        + sum over two pairs of a number and a category of wave(u) * w(value).
/// No function of a number rises or falls all the way, and none is made of bins. Not thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace leveret::synth {

class Columns {
 public:
  static constexpr std::size_t kNumbers = 3, kCategories = 6;

  Columns(std::uint64_t seed, double base_rate);

  static const char* header() {
    return "clicked,age,income,dwell,device,os,country,site,ad,user\n";
  }
  /// Makes row number `row`.
  void draw(std::uint64_t row);
  void append_row(std::string& out) const;
  double probability() const { return probability_; }
  bool clicked() const { return clicked_; }

 private:
  double logit(std::uint64_t key);

  std::uint64_t seed_;
  double bias_ = 0;
  std::array<double, kNumbers> places_{};
  std::array<std::uint32_t, kCategories> values_{};
  double income_ = 0;
  double probability_ = 0;
  bool clicked_ = false;
};

}  // namespace leveret::synth
