#include "planted_model.h"

#include <algorithm>
#include <numeric>

#include "portable_math.h"

namespace leveret::synth {
namespace {

// Streams of hashes that must not meet.
constexpr std::uint64_t kFieldStream = 1, kRowStream = 2, kPilotStream = 3, kPairStream = 4,
                        kUnitStream = 5, kLabelIndex = 1u << 20, kDriftIndex = 1u << 21,
                        kNetworkIndex = 1u << 22, kPairDriftIndex = 1u << 23,
                        kPopulationIndex = 1u << 24, kSecondIndex = (1u << 24) + 1;

constexpr std::uint64_t kPilotRows = 20000;

// Standard deviations of the logit's parts. Chosen so that 1 M rows of 39 fields look like the
// Criteo set to linear and field-aware learners (datasets/README.md has the figures).
constexpr double kLinearSd = 1.55, kPairSd = 1.1, kNetworkSd = 0.75;
// That of the numbers is as large as that of pairs or triples.
constexpr double kNumberSd = 1.1;

}  // namespace

PlantedModel::PlantedModel(const Options& options)
    : seed_(mix(options.seed)),
      drift_(options),
      triples_(seed_, options.order == 3 ? options.fields : 0),
      has_triples_(options.order == 3),
      numbers_(seed_, options.numbers),
      cells_(options.fields) {
  plan_fields(options);
  plan_pairs();
  plan_network();
  calibrate(options.base_rate);
}

void PlantedModel::plan_fields(const Options& options) {
  std::uint32_t categorical = options.fields - options.numeric;
  // Vocabulary sizes are spread evenly in log size and dealt to the fields in a hashed order.
  std::vector<std::uint32_t> size_rank(categorical);
  std::iota(size_rank.begin(), size_rank.end(), 0u);
  std::sort(size_rank.begin(), size_rank.end(), [&](std::uint32_t a, std::uint32_t b) {
    return derive(seed_ ^ 77, a) < derive(seed_ ^ 77, b);
  });
  for (std::uint32_t f = 0; f < options.fields; ++f) {
    Field field{};
    field.seed = derive(derive(seed_, kFieldStream), f);
    auto dice = [&](std::uint64_t i) { return uniform(derive(field.seed, 1000 + i)); };
    field.numeric = f < options.numeric;
    // Half of the fields are always there; the others are missing up to 30 % of the time.
    double gap = dice(0) < 0.5 ? 0 : 0.3 * dice(1) * dice(1);
    field.missing = static_cast<std::uint32_t>(gap * 65536);
    field.weight = 0.3 + dice(2);
    if (field.numeric) {
      field.scale = portable_exp(dice(3) * 5);  // medians from 1 to some hundreds
      field.tail = 0.4 + 0.9 * dice(4);
    } else {
      if (options.populations && size_rank[f - options.numeric] == categorical / 2) {
        population_field_ = static_cast<int>(f);
      }
      double place = categorical > 1 ? size_rank[f - options.numeric] / (categorical - 1.0) : 0.5;
      double size = 2 * portable_pow(static_cast<double>(options.vocabulary) / 2, place);
      field.vocabulary = static_cast<std::uint64_t>(size);
      double exponent = 0.80 + 0.27 * dice(5);
      if (exponent > 0.999 && exponent < 1.001) exponent = 0.999;  // the formula below needs s != 1
      field.zipf_span = portable_pow(size + 1, 1 - exponent) - 1;
      field.zipf_power = 1 / (1 - exponent);
    }
    fields_.push_back(field);
  }
}

void PlantedModel::plan_pairs() {
  std::uint64_t stream = derive(seed_, kPairStream);
  auto n = static_cast<std::uint32_t>(fields_.size());
  std::vector<std::pair<std::uint64_t, Pair>> all;
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      std::uint64_t hash = derive(derive(stream, a), b);
      all.push_back({hash, {a, b, 0.3 + uniform(mix(hash))}});
    }
  }
  std::sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.first < y.first; });
  std::size_t planted = std::min<std::size_t>(all.size(), 3 * n / 2);
  for (std::size_t i = 0; i < planted; ++i) pairs_.push_back(all[i].second);
}

void PlantedModel::plan_network() {
  constexpr std::uint32_t kUnits = 12, kInputs = 4;
  auto n = static_cast<std::uint32_t>(fields_.size());
  for (std::uint32_t j = 0; j < kUnits; ++j) {
    Unit unit{};
    unit.seed = derive(derive(seed_, kUnitStream), j);
    for (std::uint32_t i = 0; i < std::min(kInputs, n); ++i) {
      auto field = static_cast<std::uint32_t>(derive(unit.seed, i) % n);
      if (std::find(unit.fields.begin(), unit.fields.end(), field) == unit.fields.end()) {
        unit.fields.push_back(field);
      }
    }
    unit.weight = lane(derive(unit.seed, 100), 0) < 0 ? -1 : 1;
    unit.threshold = 0.5 * lane(derive(unit.seed, 101), 1);
    units_.push_back(unit);
  }
}

/// Scales the parts to their standard deviations and finds the bias, on rows of their own.
void PlantedModel::calibrate(double base_rate) {
  std::vector<Parts> pilot;
  std::uint64_t stream = derive(seed_, kPilotStream);
  for (std::uint64_t row = 0; row < kPilotRows; ++row) {
    draw_cells(derive(stream, row));
    pilot.push_back(parts());
  }
  auto scale_of = [&](double Parts::*part, double wanted) {
    double sum = 0, squares = 0;
    for (const Parts& p : pilot) {
      sum += p.*part;
      squares += p.*part * (p.*part);
    }
    double mean = sum / kPilotRows, variance = squares / kPilotRows - mean * mean;
    return variance > 1e-12 ? wanted / std::sqrt(variance) : 0;
  };
  scale_ = {scale_of(&Parts::linear, kLinearSd), scale_of(&Parts::pairs, kPairSd),
            scale_of(&Parts::network, kNetworkSd), scale_of(&Parts::numbers, kNumberSd)};
  double low = -40, high = 40;
  for (int i = 0; i < 40; ++i) {
    bias_ = (low + high) / 2;
    double sum = 0;
    for (const Parts& p : pilot) sum += sigmoid(logit(p));
    (sum < base_rate * kPilotRows ? low : high) = bias_;
  }
}

void PlantedModel::draw(std::uint64_t row) {
  std::uint64_t row_key = derive(derive(seed_, kRowStream), row);
  drift_.move_to(row);
  draw_cells(row_key);
  probability_ = sigmoid(logit(parts()));
  clicked_ = uniform(derive(row_key, kLabelIndex)) < probability_;
}

void PlantedModel::draw_cells(std::uint64_t row_key) {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    Cell& cell = cells_[f];
    std::uint64_t hash = derive(row_key, f);
    cell.missing = (hash & 0xffff) < field.missing;
    if (cell.missing) continue;
    double u = static_cast<double>(hash >> 16) * 0x1p-48;
    if (field.numeric) {
      double value = field.scale * (portable_pow(1 - u, -field.tail) - 1);
      cell.value = static_cast<std::uint64_t>(std::min(value, 1e7));
      cell.key = derive(field.seed, log2_bucket(cell.value));
    } else {
      draw_categorical(field, u, cell);
    }
  }
  numbers_.draw(row_key);
  choose_population();
}

/// In the second population each value has other weights, and shows the same token.
void PlantedModel::choose_population() {
  if (population_field_ < 0) return;
  const Cell& chosen = cells_[static_cast<std::size_t>(population_field_)];
  population_ = chosen.missing ? 0 : derive(chosen.key, kPopulationIndex) & 1;
  if (population_ == 0) return;
  for (Cell& cell : cells_) cell.key = derive(cell.key, kSecondIndex);
}

void PlantedModel::draw_categorical(const Field& field, double u, Cell& cell) const {
  double place = portable_pow(1 + field.zipf_span * u, field.zipf_power);
  auto rank = std::min(static_cast<std::uint64_t>(place), field.vocabulary) - 1;
  std::uint64_t id = rank + (drift_.generation(field.seed, rank) << 32);
  cell.key = derive(field.seed, id);
  cell.value = mix(cell.key);
}

PlantedModel::Parts PlantedModel::parts() const {
  return {linear_part(), has_triples_ ? triples_.part(cells_) : pair_part(), network_part(),
          numbers_.part(population_)};
}

double PlantedModel::linear_part() const {
  double sum = 0;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Cell& cell = cells_[f];
    if (cell.missing) continue;
    double w = 0;
    for (const Draw& draw : drift_.linear()) {
      w += draw.factor * bell(derive(cell.key, kDriftIndex + draw.number));
    }
    sum += fields_[f].weight * w;
  }
  return sum;
}

double PlantedModel::pair_part() const {
  double sum = 0;
  for (const Pair& pair : pairs_) {
    const Cell &a = cells_[pair.a], &b = cells_[pair.b];
    if (a.missing || b.missing) continue;
    Vector x = vector_of(a, pair.b), y = vector_of(b, pair.a);
    double dot = 0;
    for (int k = 0; k < 4; ++k) dot += x[k] * y[k];
    sum += pair.weight * dot;
  }
  return sum;
}

/// What a value brings to the pair with field `other`.
PlantedModel::Vector PlantedModel::vector_of(const Cell& cell, std::uint32_t other) const {
  Vector vector{};
  for (const Draw& draw : drift_.pairs()) {
    std::uint64_t key =
        draw.number == 0 ? cell.key : derive(cell.key, kPairDriftIndex + draw.number);
    std::uint64_t hash = derive(key, other);
    for (int k = 0; k < 4; ++k) vector[k] += draw.factor * lane(hash, k);
  }
  return vector;
}

double PlantedModel::network_part() const {
  double sum = 0;
  for (std::size_t j = 0; j < units_.size(); ++j) {
    double input = -units_[j].threshold;
    for (std::uint32_t f : units_[j].fields) {
      if (!cells_[f].missing) input += bell(derive(cells_[f].key, kNetworkIndex + j));
    }
    if (input > 0) sum += units_[j].weight * input;
  }
  return sum;
}

double PlantedModel::logit(const Parts& p) const {
  return bias_ + scale_.linear * p.linear + scale_.pairs * p.pairs + scale_.network * p.network +
         scale_.numbers * p.numbers;
}

}  // namespace leveret::synth
