/// Parts of the planted logit that one kind of model is made for: products of three fields, a
/// function of real numbers, and populations with rules of their own.
///
/// As the rest of the planted model, all of it is a hash of seed and value. Not thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leveret::synth {

struct Cell;

/// triples = sum over the planted triples (f, g, h) of sum_k a_k b_k c_k, 4 wide, where each value
/// has another vector for each triple. Its vectors have the mean 0, so that no sum over single
/// fields or pairs of them says anything about it.
class Triples {
 public:
  /// 1.5 for each of `fields` fields, drawn independently: several may be of the same fields.
  Triples(std::uint64_t seed, std::uint32_t fields);

  double part(const std::vector<Cell>& cells) const;

 private:
  struct Triple {
    std::uint32_t fields[3];
    std::uint64_t seed;
    double weight;
  };
  std::vector<Triple> triples_;
};

/// `count` real numbers of a row, independent of its fields, each with a scale of its own, 1 to
/// 1,000, and three decimals:
///   numbers = sum over 2 * count ReLU units of o * max(0, sum over three numbers of w x - t)
///           + sum over count / 2 pairs of numbers of x y
/// where x is a number over its scale, with mean 0 and variance 1.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint32_t count);

  /// Makes those of a row.
  void draw(std::uint64_t row_key);
  const std::vector<double>& values() const { return values_; }
  /// Of population 0 or 1; each has units of its own.
  double part(unsigned population) const;

 private:
  double units_part(std::uint64_t seed) const;

  std::uint64_t seed_;
  std::vector<double> scales_, values_, standard_;
};

}  // namespace leveret::synth
