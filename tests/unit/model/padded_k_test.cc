// A k between two powers of two is stored with weights of 0 behind each slot, and learns as if it
// were not: against a reference in double precision that knows nothing of that.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "random_model.h"
#include "reference_model.h"

namespace leveret::model {
namespace {

/// Learns one sum by AdaGrad, example by example.
class PlainLearner {
 public:
  /// With the first weights of the model, which has its rows but has learned nothing.
  PlainLearner(const Model& model, const feature::FeatureBatch& all)
      : spec_(model.spec()), weights_(model, all) {}

  const ReferenceModel& weights() const { return weights_; }

  /// Returns the score before the step.
  double learn(const feature::FeatureBatch& batch, std::size_t b) {
    const ReferenceScores s = weights_.forward(batch, b);
    const double error = (1 / (1 + std::exp(-s.last)) - (batch.label[b] > 0 ? 1 : 0)) *
                         static_cast<double>(batch.importance[b]);
    const std::map<Slot, std::vector<double>> gradients = slots(batch, b, error * s.ffm_scale);
    for (const auto& [slot, g] : gradients) step_slot(slot, g);
    for (const feature::LinearRun& run : batch.linear_runs_of(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const auto name = weights_.name(run.group, batch.linear[i].hash);
        step(spec_.linear, weights_.cells.at(name).weight, cell_sums_[name],
             error * batch.linear[i].value);
      }
    }
    step(spec_.linear, weights_.bias, bias_sum_, error);
    return s.last;
  }

 private:
  /// Of one row, that for features of field `opposite`.
  struct Slot {
    std::uint32_t field, hash, opposite;
    auto operator<=>(const Slot&) const = default;
  };
  struct Feature {
    std::uint32_t field, hash;
    double x;
  };

  /// By the pairs of features (Juan et al. 2016, section 3).
  std::map<Slot, std::vector<double>> slots(const feature::FeatureBatch& batch, std::size_t b,
                                            double error) {
    std::vector<Feature> features;
    for (const feature::FieldRun& run : batch.field_runs_of(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        features.push_back(
            {run.field, batch.field_features[i].hash, batch.field_features[i].value});
      }
    }
    std::map<Slot, std::vector<double>> gradients;
    for (std::size_t i = 0; i < features.size(); ++i) {
      for (std::size_t j = 0; j < features.size(); ++j) {
        if (i == j) continue;
        const Feature &own = features[i], &other = features[j];
        std::vector<double>& g = gradients[{own.field, own.hash, other.field}];
        g.resize(spec_.ffm_k);
        for (std::uint32_t c = 0; c < spec_.ffm_k; ++c) {
          g[c] += error * own.x * other.x *
                  weights_.rows[other.field].at(other.hash)[own.field * spec_.ffm_k + c];
        }
      }
    }
    return gradients;
  }

  void step_slot(const Slot& slot, const std::vector<double>& gradient) {
    double* const w = &weights_.rows[slot.field].at(slot.hash)[slot.opposite * spec_.ffm_k];
    std::vector<double>& sums = slot_sums_[slot];
    sums.resize(spec_.ffm_k);
    if (!spec_.adagrad_slice) {
      for (std::uint32_t c = 0; c < spec_.ffm_k; ++c) step(spec_.rows, w[c], sums[c], gradient[c]);
      return;
    }
    for (const double g : gradient) sums[0] += g * g / spec_.ffm_k;
    const double scale =
        spec_.rows.rate * std::pow(spec_.rows.init_acc + sums[0], -double{spec_.rows.power_t});
    for (std::uint32_t c = 0; c < spec_.ffm_k; ++c) w[c] -= scale * gradient[c];
  }

  static void step(const spec::PartLearning& learning, double& w, double& sum, double g) {
    sum += g * g;
    w -= learning.rate * g * std::pow(learning.init_acc + sum, -double{learning.power_t});
  }

  Spec spec_;
  ReferenceModel weights_;
  std::map<Slot, std::vector<double>> slot_sums_;
  std::map<ReferenceModel::CellName, double> cell_sums_;
  double bias_sum_ = 0;
};

TEST_CASE("every k, also one between two powers of two, learns what the reference learns") {
  const std::uint32_t k = GENERATE(1, 3, 4, 5, 7, 12);
  const bool slice = GENERATE(true, false);
  const float power = GENERATE(0.5f, 0.3f, 0.0f);
  const std::uint32_t features = GENERATE(1, 3);  // in a field: rows are moved in place, or by sums
  Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.hidden = {};
  spec.admit = 1;
  spec.row_bits = 32;
  spec.ffm_k = k;
  spec.adagrad_slice = slice;
  spec.rows.power_t = power;
  spec.ffm_init_width = 0.6f;  // so that there is something to learn from in few examples
  LineShape shape;
  shape.features = features;
  shape.vocabulary = 4;
  for (const kernels::Kernels* kernels : kernels_to_test()) {
    INFO("k " << k << " slice " << slice << " power " << power << ", " << features
              << " features a field, kernels " << kernels->name);
    Model model(spec, kTestMemory);
    Sample sample(random_lines(300, shape, 21));
    const feature::FeatureBatch all = sample.batch(model);
    Trainer trainer(model, *kernels);
    trainer.lookup.resolve_all(model, all, trainer.tape);
    PlainLearner reference(model, all);
    const std::vector<std::map<std::uint32_t, std::vector<double>>> first =
        reference.weights().rows;
    for (std::size_t b = 0; b < all.size(); ++b) {
      const feature::FeatureBatch one = sample.batch(model, b, 1);
      trainer.learn(model, one);
      const double expected = reference.learn(all, b);
      REQUIRE(std::abs(trainer.tape.answers[0] - expected) < 1e-4);
    }
    const ReferenceModel learned(model, all);  // weights_of looks at those that fill slots up
    double moved = 0;
    for (std::size_t field = 0; field < first.size(); ++field) {
      for (const auto& [hash, row] : reference.weights().rows[field]) {
        const std::vector<double>& got = learned.rows[field].at(hash);
        for (std::size_t i = 0; i < row.size(); ++i) {
          moved = std::max(moved, std::abs(row[i] - first[field].at(hash)[i]));
          if (std::abs(got[i] - row[i]) > 1e-4) FAIL(got[i] << " instead of " << row[i]);
        }
      }
    }
    CHECK(moved > 0.1);
  }
}

TEST_CASE("first weights of a slot are as long as k, and of the same size whatever the k") {
  for (const std::uint32_t k : {3u, 4u, 5u, 8u}) {
    Spec spec;
    spec.ffm_k = k;
    spec.row_bits = 32;
    spec.admit = 1;
    Model model(spec, kTestMemory);
    LineShape shape;
    shape.vocabulary = 200;
    Sample sample(random_lines(300, shape, 1));
    Tape tape;
    const feature::FeatureBatch batch = sample.batch(model);
    Lookup(model).resolve_all(model, batch, tape);
    double squares = 0, count = 0;
    for (const table::Shard& shard : model.tables()) {
      for (table::Row row = 0; row < shard.rows().size(); ++row) {
        for (const float w : weights_of(shard.rows(), row)) {
          squares += double{w} * w;
          ++count;
        }
      }
    }
    INFO("k " << k);
    CHECK(std::sqrt(squares / count * k) == Approx(spec.ffm_init_width).epsilon(0.03));
  }
}

}  // namespace
}  // namespace leveret::model
