// Every optimizer against an independent implementation of it, in double.
#include "spec/optimizer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "stepper.h"

namespace leveret::model {
namespace {

void check_step(const std::string& what, double value, double expected, double size) {
  INFO(what << ": " << value << " instead of " << expected);
  CHECK(std::abs(value - expected) <= 2e-6 + 1e-3 * std::abs(size));
}

/// AdaGrad of any power over the weights of one part; k > 1: one accumulator for k of them, which
/// takes the squares of `from`, the part's own gradient or another's.
class PlainAdagrad {
 public:
  PlainAdagrad(spec::PartLearning learning, std::size_t k) : learning_(learning), k_(k) {}

  void check(const std::string& part, const std::vector<float>& before,
             const std::vector<float>& gradient, const std::vector<float>& after) {
    check(part, before, gradient, after, gradient, {});
  }
  /// `kept`: of each sum that has a gradient, before it takes it; empty: all.
  void check(const std::string& part, const std::vector<float>& before,
             const std::vector<float>& gradient, const std::vector<float>& after,
             const std::vector<float>& from, const std::vector<double>& kept) {
    if (sums_.empty()) sums_.resize(before.size() / k_ + 1, learning_.init_acc);
    REQUIRE(gradient.size() == before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double g = from[i];
      if (!kept.empty() && g != 0) sums_[i] *= kept[i];
      sums_[i / k_] += g * g / static_cast<double>(k_);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double g = gradient[i];
      if (g == 0) {
        INFO(part << " weight " << i);
        CHECK(after[i] == before[i]);
        continue;
      }
      const double step = learning_.rate * g * std::pow(sums_[i / k_], -learning_.power_t);
      check_step(part + " weight " + std::to_string(i), after[i], before[i] - step, step);
    }
  }

 private:
  spec::PartLearning learning_;
  std::size_t k_;
  std::vector<double> sums_;
};

std::string out_of_layer(std::size_t l) { return "dense." + std::to_string(l) + ".out"; }

/// By example, d loss / d output.
std::span<const float> gradient_of_layer(const Model& model, const Tape& tape, std::size_t l) {
  return gradient_of(model, tape, out_of_layer(l));
}

/// leveret-model(7), DRIFT: what each weight of the dense layers keeps of its sum in the last step,
/// by the examples in which its neuron fired.
std::vector<double> kept_of_dense(const Model& model, const tape::Scalars& before,
                                  const Tape& tape) {
  const double rate = before.clicks / before.count;
  const double t = static_cast<double>(before.examples);
  const double share = std::min(.001 * 4 * rate * (1 - rate), 8 / (t + 1));
  std::vector<double> kept;
  const std::vector<tape::ConstDense> layers = model.parameters().layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<double> of_neuron(layers[l].outputs, 1);
    for (std::size_t b = 0; b < tape.size; ++b) {
      for (std::size_t o = 0; o < of_neuron.size(); ++o) {
        const float d = gradient_of_layer(model, tape, l)[b * of_neuron.size() + o];
        if (d != 0 && tape.learn[b] != 0) of_neuron[o] *= 1 - share;
      }
    }
    for (const double keep : of_neuron) kept.insert(kept.end(), layers[l].stride(), keep);
    kept.insert(kept.end(), of_neuron.begin(), of_neuron.end());
  }
  return kept;
}

/// Steps of one example and of several, over and over the same lines.
void check_adagrad(const Spec& spec, const spec::PartLearning& linear,
                   const spec::PartLearning& rows, const spec::PartLearning& nn) {
  LineShape shape;
  shape.vocabulary = 4;
  Stepper stepper(spec, shape, 12, 7);
  PlainAdagrad on_linear(linear, 1), on_linear2(linear, 1), on_dense(nn, 1);
  PlainAdagrad on_rows(rows, spec.adagrad_slice ? spec.ffm_k : 1);
  for (const auto& [first, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 1}, {2, 5}, {0, 1}, {6, 6}}) {
    const tape::Scalars scalars = stepper.model.parameters().scalars;
    stepper.step(first, count);
    INFO("examples " << first << " + " << count << ", mixed " << spec.mixed());
    on_linear.check("linear", stepper.before.linear, stepper.gradient.linear, stepper.after.linear,
                    spec.mixed() ? stepper.gradient.linear2 : stepper.gradient.linear, {});
    on_linear2.check("linear2", stepper.before.linear2, stepper.gradient.linear2,
                     stepper.after.linear2);
    on_rows.check("row", stepper.before.rows, stepper.gradient.rows, stepper.after.rows);
    std::vector<double> kept;
    if (spec.mixed() && spec.fast_head) {
      kept = kept_of_dense(stepper.model, scalars, stepper.trainer.tape);
    }
    on_dense.check("dense", stepper.before.dense, stepper.gradient.dense, stepper.after.dense,
                   stepper.gradient.dense, kept);
    // The fast head's steps depend on no past, and on no option.
    for (std::size_t i = 0; i < stepper.before.fast.size(); ++i) {
      const double step = stepper.gradient.fast[i];
      check_step("fast weight", stepper.after.fast[i], stepper.before.fast[i] - step, step);
    }
  }
}

Spec base_spec(spec::Heads heads) {
  Spec spec;
  spec.heads = heads;
  spec.ffm_k = 3;
  spec.hidden = {6, 5};
  spec.admit = 1;
  spec.row_bits = 32;  // what rounding adds to a step is in fixed_rows_test.cc
  spec.linear = {0.3f, 0.5f, 0.5f};
  spec.rows = {0.2f, 0.5f, 0.1f};
  spec.nn = {0.1f, 0.5f, 0.7f};
  return spec;
}

TEST_CASE("AdaGrad of every power, with an accumulator per weight and per slice") {
  Spec spec = base_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec.adagrad_slice = GENERATE(false, true);
  spec.fast_head = GENERATE(true, false);
  for (const float power : {0.5f, 0.3f, 1.0f, 0.0f}) {
    spec.linear.power_t = spec.rows.power_t = spec.nn.power_t = power;
    INFO("power " << power << " slice " << spec.adagrad_slice);
    check_adagrad(spec, spec.linear, spec.rows, spec.nn);
  }
}

TEST_CASE("SGD takes plain steps in every part, whatever --power_t says") {
  Spec spec = base_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec::set_optimizer(spec, "sgd");
  const auto plain = [](spec::PartLearning part) {
    return spec::PartLearning{part.rate, 0, part.init_acc};
  };
  check_adagrad(spec, plain(spec.linear), plain(spec.rows), plain(spec.nn));
}

/// McMahan et al. 2013, algorithm 1.
struct PlainFtrl {
  double n = 0, z = 0, w = 0;
  void step(double g, double alpha, double beta, double l1, double l2) {
    const double sigma = (std::sqrt(n + g * g) - std::sqrt(n)) / alpha;
    z += g - sigma * w;
    n += g * g;
    const double sign = z < 0 ? -1 : 1;
    w = std::abs(z) <= l1 ? 0 : -(z - sign * l1) / ((beta + std::sqrt(n)) / alpha + l2);
  }
};

TEST_CASE("FTRL-proximal on the linear part") {
  const double l1 = GENERATE(0.0, 1.5), l2 = GENERATE(0.0, 0.5);
  Spec spec = base_spec(spec::Heads::kOne);
  spec::set_optimizer(spec, "ftrl");
  spec.ffm_k = 0;
  spec.constant = false;
  spec.linear.rate = 0.4f;
  spec.ftrl_beta = 0.8f;
  spec.l1 = static_cast<float>(l1);
  spec.l2 = static_cast<float>(l2);
  Model model(spec, kTestMemory);
  LineShape shape;
  shape.weights = false;
  Sample sample(random_lines(300, shape, 5));
  std::map<std::uint32_t, PlainFtrl> plain;
  Trainer trainer(model, kernels::active());
  for (std::size_t i = 0; i < sample.chunk.examples.size(); ++i) {
    const feature::FeatureBatch batch = sample.batch(model, i, 1);
    double z = 0;
    for (const feature::Feature& f : batch.linear) z += plain[f.hash].w * f.value;
    const double error = 1 / (1 + std::exp(-z)) - (batch.label[0] > 0 ? 1 : 0);
    for (const feature::Feature& f : batch.linear) {
      plain[f.hash].step(error * f.value, 0.4, 0.8, l1, l2);
    }
    trainer.learn(model, batch);
  }
  std::size_t zeros = 0;
  for (const auto& [hash, expected] : plain) {
    const table::Cell* const cell = model.tables().find_cell(0, hash);
    REQUIRE(cell != nullptr);
    CHECK(cell->weight == Approx(expected.w).margin(1e-4));
    CHECK(cell->sum == Approx(expected.n).margin(1e-4));
    zeros += expected.w == 0;
  }
  CHECK((zeros > 0) == (l1 > 0));
}

/// Kingma and Ba 2015, algorithm 1, over the rows that have a gradient.
struct PlainAdam {
  struct Moments {
    double first = 0, second = 0;
  };
  double step(Moments& at, double g, double rate, int t) const {
    at.first = 0.9 * at.first + 0.1 * g;
    at.second = 0.999 * at.second + 0.001 * g * g;
    const double first = at.first / (1 - std::pow(0.9, t));
    const double second = at.second / (1 - std::pow(0.999, t));
    return rate * first / (std::sqrt(second) + 1e-8);
  }
};

/// Gradient of neuron o of layer l, its weights and then its bias, summed over the batch.
std::vector<double> neuron_gradient(const Model& model, const Tape& tape, std::size_t l,
                                    std::size_t o) {
  const std::vector<tape::ConstDense> layers = model.parameters().layers();
  const tape::ConstDense& layer = layers[l];
  std::vector<double> g(layer.inputs + 1);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const std::span<const float> ins =
        tensor_of(model, tape, l == 0 ? "dense.0.in" : out_of_layer(l - 1));
    const float* in = ins.data() + b * (ins.size() / tape.size);
    const double d = gradient_of_layer(model, tape, l)[b * layer.outputs + o];
    for (std::size_t i = 0; i < layer.inputs; ++i) g[i] += d * in[i];
    g[layer.inputs] += d;
  }
  return g;
}

TEST_CASE("Adam on the dense layers, in batches, the last of which may be one example") {
  Spec spec = base_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec::set_optimizer(spec, GENERATE("adam", "linear=sgd,rows=sgd,layers=adam"));
  spec.batch_size = 4;
  Stepper stepper(spec, LineShape{}, 13, 11);
  PlainAdam adam;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, PlainAdam::Moments> moments;
  std::map<std::pair<std::size_t, std::size_t>, int> steps;  // of neurons
  for (const auto& [first, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 4}, {4, 4}, {8, 4}, {12, 1}}) {
    const Parameters all_before = stepper.model.parameters();
    const std::vector<tape::ConstDense> before = all_before.layers();
    stepper.step(first, count);
    for (std::size_t l = 0; l < before.size(); ++l) {
      const tape::Dense after = stepper.model.parameters().layer(l);
      for (std::size_t o = 0; o < after.outputs; ++o) {
        const std::vector<double> g = neuron_gradient(stepper.model, stepper.trainer.tape, l, o);
        const bool fired = g.back() != 0;
        const int t = steps[{l, o}] += fired;
        for (std::size_t i = 0; i <= after.inputs; ++i) {
          const std::size_t at = o * after.stride() + i;
          const float old = i < after.inputs ? before[l].weights[at] : before[l].bias[o];
          const float now = i < after.inputs ? after.weights[at] : after.bias[o];
          const double step = fired ? adam.step(moments[{l, o, i}], g[i], spec.nn.rate, t) : 0;
          INFO("batch of " << first << " layer " << l << " neuron " << o << " weight " << i);
          CHECK(now == Approx(old - step).epsilon(1e-4).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("Adam on rows, by the steps that each vector has taken, one by one and in batches") {
  Spec spec = base_spec(GENERATE(spec::Heads::kMixed, spec::Heads::kOne));
  spec::set_optimizer(spec, "rows=adam");
  spec.rows.rate = 0.02f;
  spec.adagrad_slice = GENERATE(false, true);  // which is AdaGrad's
  LineShape shape;
  shape.vocabulary = 4;
  Stepper stepper(spec, shape, 12, 7);
  PlainAdam adam;
  std::vector<PlainAdam::Moments> moments;
  std::vector<int> steps;
  const std::size_t k = spec.ffm_k;
  std::size_t moved = 0, stayed = 0;
  for (const auto& [first, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 1}, {2, 5}, {0, 1}, {6, 6}}) {
    stepper.step(first, count);
    const std::vector<float>& g = stepper.gradient.rows;
    REQUIRE(g.size() % k == 0);
    moments.resize(g.size());
    steps.resize(g.size() / k);
    for (std::size_t v = 0; v < steps.size(); ++v) {
      const auto at = static_cast<std::ptrdiff_t>(v * k);
      const bool has_gradient =
          std::any_of(g.begin() + at, g.begin() + at + static_cast<std::ptrdiff_t>(k),
                      [](float number) { return number != 0; });
      has_gradient ? ++moved : ++stayed;
      steps[v] += has_gradient;
      for (std::size_t i = v * k; i < (v + 1) * k; ++i) {
        INFO("examples " << first << " + " << count << ", weight " << i);
        if (!has_gradient) {
          CHECK(stepper.after.rows[i] == stepper.before.rows[i]);
          continue;
        }
        const double step = adam.step(moments[i], g[i], spec.rows.rate, steps[v]);
        // A gradient of next to nothing is known by the rounding of weights alone.
        const double tolerance = std::abs(g[i]) < 1e-5 ? 2 * spec.rows.rate : 2e-4;
        CHECK(std::abs(stepper.after.rows[i] - (stepper.before.rows[i] - step)) <= tolerance);
      }
    }
  }
  CHECK(moved > 100);
  CHECK(stayed > 100);
}

}  // namespace
}  // namespace leveret::model
