/// The world the generated rows come from: what values a row has and how likely it is a click.
///
/// Nothing is stored per value: a row's cells are a hash of (seed, row, field), a value's latent
/// weights are a hash of (seed, field, value), so any row can be made at any time and a vocabulary
/// of a million costs nothing. The logit is
///   bias + linear + pairs + network, with
///   linear  = sum over fields of w(field, value)
///   pairs   = sum over the planted pairs (f, g) of <a(f, value, g), a(g, value, f)>, 4 wide
///   network = sum over ReLU units of o * max(0, sum over the unit's fields of z(field, value))
/// and, where options ask for them, products of three fields in place of the pairs, a function of
/// real numbers, and a second population whose values have other weights (plants.h); where under
/// drift a weight w or a vector a is another one at another row (drift.h). Each part is scaled to
/// its share of the logit's variance, and the bias set to the wanted base rate, on a pilot sample.
/// Not thread safe.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "drift.h"
#include "options.h"
#include "plants.h"

namespace leveret::synth {

struct Cell {
  bool missing;
  std::uint64_t value;  ///< numeric: the number; categorical: id whose low 32 bits are the token
  std::uint64_t key;    ///< hash of (seed, field, value or its bucket): source of its weights
};

/// The bucket of a numeric field, as `leveret convert` makes it: 0 for 0, else 1 + floor(log2 v).
inline std::uint32_t log2_bucket(std::uint64_t value) { return std::bit_width(value); }

class PlantedModel {
 public:
  explicit PlantedModel(const Options& options);

  /// Makes row number `row`; cells() then holds it.
  void draw(std::uint64_t row);
  const std::vector<Cell>& cells() const { return cells_; }
  const std::vector<double>& numbers() const { return numbers_.values(); }
  double probability() const { return probability_; }
  bool clicked() const { return clicked_; }

 private:
  struct Field {
    bool numeric;
    std::uint64_t seed;
    std::uint32_t missing;         ///< probability of a missing cell, in 1/65536
    std::uint64_t vocabulary;      ///< categorical: number of values
    double zipf_span, zipf_power;  ///< categorical: rank = (1 + span u)^power
    double scale, tail;            ///< numeric: value = scale ((1-u)^-tail - 1)
    double weight;                 ///< standard deviation of its linear weights
  };
  struct Pair {
    std::uint32_t a, b;
    double weight;
  };
  struct Unit {
    std::vector<std::uint32_t> fields;
    std::uint64_t seed;
    double weight, threshold;
  };
  using Vector = std::array<double, 4>;
  struct Parts {
    double linear, pairs, network, numbers;
  };

  void plan_fields(const Options& options);
  void plan_pairs();
  void plan_network();
  void calibrate(double base_rate);
  void draw_cells(std::uint64_t row_key);
  void choose_population();
  void draw_categorical(const Field& field, double u, Cell& cell) const;
  Parts parts() const;
  double linear_part() const;
  double pair_part() const;
  Vector vector_of(const Cell& cell, std::uint32_t other) const;
  double network_part() const;
  double logit(const Parts& p) const;

  std::uint64_t seed_;
  Drift drift_;
  std::vector<Field> fields_;
  std::vector<Pair> pairs_;
  std::vector<Unit> units_;
  Triples triples_;  ///< none: there are pairs
  bool has_triples_;
  Numbers numbers_;
  int population_field_ = -1;  ///< whose values belong to one of two populations; -1: there is one
  unsigned population_ = 0;    ///< of the row
  Parts scale_{1, 1, 1, 1};
  double bias_ = 0;
  std::vector<Cell> cells_;
  double probability_ = 0;
  bool clicked_ = false;
};

}  // namespace leveret::synth
