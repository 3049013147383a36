// Stochastic rounding in batches goes by seed, field, key and place.
#include <catch2/catch.hpp>

#include "random_model.h"

namespace leveret::model {
namespace {

/// A model of rows of 16 bits that has learned from one batch.
struct OneBatch {
  explicit OneBatch(const std::string& lines)
      : model(spec(), kTestMemory), sample(lines), batch(sample.batch(model)) {
    Trainer(model, kernels::active()).learn(model, batch);
  }
  static Spec spec() {
    Spec spec;
    spec.admit = 1;
    spec.ffm_init_width = 2;  // far enough from 0 that every step is rounded
    return spec;
  }
  /// The weights of field f's feature in an example.
  std::vector<float> row(std::size_t example, std::uint32_t f) const {
    const std::uint32_t i = batch.field_runs_of(example)[f].begin;
    const table::Row row = find_row(model, f, batch.field_features[i].hash);
    REQUIRE(row != table::kNoRow);
    return weights_of(model.tables().field(f).rows(), row);
  }
  Model model;
  Sample sample;
  feature::FeatureBatch batch;
};

TEST_CASE("a row's step in a batch is rounded alike whatever the order of examples") {
  // Each feature comes once, so that no order of a sum matters.
  constexpr std::size_t kExamples = 6;
  std::string forth, back;
  for (std::size_t e = 0; e < kExamples; ++e) {
    const std::string name = std::to_string(e);
    const std::string line =
        (e % 2 == 0 ? "1 |A a" : "-1 |A a") + name + " |B b" + name + " |C c" + name + "\n";
    forth += line;
    back = line + back;
  }
  const OneBatch one(forth), other(back);
  for (std::size_t e = 0; e < kExamples; ++e) {
    for (std::uint32_t f = 0; f < 3; ++f) {
      INFO("example " << e << " field " << f);
      CHECK(one.row(e, f) == other.row(kExamples - 1 - e, f));
    }
  }
}

}  // namespace
}  // namespace leveret::model
