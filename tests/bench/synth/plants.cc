#include "plants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "planted_model.h"
#include "portable_math.h"

namespace leveret::synth {
namespace {

// Streams of hashes that must not meet those of planted_model.cc.
constexpr std::uint64_t kTripleStream = 11, kNumberStream = 12, kPopulationStream = 1u << 21;

}  // namespace

Triples::Triples(std::uint64_t seed, std::uint32_t fields) {
  const std::uint64_t stream = derive(seed, kTripleStream);
  for (std::uint32_t i = 0; fields >= 3 && i < 3 * fields / 2; ++i) {
    Triple triple{};
    triple.seed = derive(stream, i);
    triple.weight = 0.3 + uniform(derive(triple.seed, 0));
    for (std::uint64_t at = 0, die = 1; at < 3; ++die) {
      const auto field = static_cast<std::uint32_t>(derive(triple.seed, die) % fields);
      if (std::find(triple.fields, triple.fields + at, field) == triple.fields + at) {
        triple.fields[at++] = field;
      }
    }
    triples_.push_back(triple);
  }
}

double Triples::part(const std::vector<Cell>& cells) const {
  double sum = 0;
  for (const Triple& triple : triples_) {
    double product[4] = {1, 1, 1, 1};
    bool missing = false;
    for (const std::uint32_t field : triple.fields) {
      missing |= cells[field].missing;
      if (missing) break;
      const std::uint64_t hash = derive(cells[field].key ^ triple.seed, field);
      for (int k = 0; k < 4; ++k) product[k] *= lane(hash, k);
    }
    if (missing) continue;
    sum += triple.weight * (product[0] + product[1] + product[2] + product[3]);
  }
  return sum;
}

Numbers::Numbers(std::uint64_t seed, std::uint32_t count)
    : seed_(derive(seed, kNumberStream)), values_(count), standard_(count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    scales_.push_back(portable_exp(portable_log(1000) * uniform(derive(seed_, i))));
  }
}

void Numbers::draw(std::uint64_t row_key) {
  const std::uint64_t key = derive(row_key, seed_);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    // Rounded first, so that a learner can know what the function has seen.
    values_[i] = std::floor(bell(derive(key, i)) * scales_[i] * 1000 + .5) / 1000;
    standard_[i] = values_[i] / scales_[i];
  }
}

double Numbers::part(unsigned population) const {
  return values_.empty() ? 0
                         : units_part(population == 0 ? seed_ : derive(seed_, kPopulationStream));
}

double Numbers::units_part(std::uint64_t seed) const {
  const std::size_t count = standard_.size();
  const auto number = [&](std::uint64_t hash) { return standard_[hash % count]; };
  double sum = 0;
  for (std::size_t j = 0; j < 2 * count; ++j) {
    const std::uint64_t unit = derive(seed, 1000 + j);
    double input = -lane(unit, 0);
    for (int i = 0; i < 3; ++i) input += 1.5 * lane(unit, i + 1) * number(derive(unit, i));
    if (input > 0) sum += lane(derive(unit, 10), 0) < 0 ? -input : input;
  }
  for (std::size_t j = 0; j < count / 2; ++j) {
    const std::uint64_t pair = derive(seed, (1u << 20) + j);
    sum += number(derive(pair, 0)) * number(derive(pair, 1));
  }
  return sum;
}

}  // namespace leveret::synth
