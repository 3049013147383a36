// The gradient of every weight that moves against central differences of the plain reference.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "random_model.h"
#include "reference_model.h"
#include "spec/optimizer.h"
#include "spec/tower_text.h"
#include "specs_to_test.h"

namespace leveret::model {
namespace {

/// A model before and after one step of plain gradient descent with rate 1: their difference is the
/// gradient.
class GradientCheck {
 public:
  GradientCheck(Spec spec, const LineShape& shape, std::size_t examples,
                const kernels::Kernels& kernels)
      : spec_(with_unit_steps(std::move(spec))), model_(spec_, kTestMemory) {
    // A kink within reach of the differences has no derivative to compare with: draw again.
    for (std::uint32_t seed = 1;; ++seed) {
      REQUIRE(seed < 200);
      model_ = Model(spec_, kTestMemory);
      sample_ =
          std::make_unique<Sample>(random_lines(examples + 1, shape, seed), reading_numbers(spec_));
      sample_->batch(model_, 0, 1);
      batch_ = sample_->batch(model_, 1, examples);
      randomise(model_, batch_, seed);
      reference_ = std::make_unique<ReferenceModel>(model_, batch_);
      frozen_.clear();
      double nearest = 1;
      for (std::size_t b = 0; b < examples; ++b) {
        frozen_.push_back(reference_->forward(batch_, b));
        nearest = std::min(nearest, frozen_.back().nearest_kink);
      }
      if (nearest > kKinkMargin) break;
    }
    before_ = std::make_unique<ReferenceModel>(*reference_);
    sums_ = sums_of_arrays();
    Trainer trainer(model_, kernels);
    trainer.learn(model_, batch_);
    after_ = std::make_unique<ReferenceModel>(model_, batch_);
  }

  double noise = 2e-6;  ///< so much a gradient may differ that is 0

  void run() {
    check_linear();
    check_rows();
    check_layers();
    check_arrays();
    if (spec_.constant) {
      check("bias", reference_->bias, before_->bias - after_->bias);
      if (spec_.mixed()) check("bias2", reference_->bias2, before_->bias2 - after_->bias2);
      if (spec_.mixed() && spec_.fast_head) {
        double curvature = 0;
        for (const ReferenceScores& scores : frozen_) curvature += 1 + scores.squares;
        check("fast bias", reference_->fast_bias,
              (before_->fast_bias - after_->fast_bias) * curvature / 4);
      }
    }
    // A check of nothing but zeros would say nothing.
    CHECK(not_zero_ > 0);
  }

 private:
  static constexpr double kStep = 1e-5;
  static constexpr double kKinkMargin = 1e-3;

  /// Sums of squares of the arrays that move by an AdaGrad of their own, by the array's name.
  std::map<std::string, std::vector<float>> sums_of_arrays() const {
    std::map<std::string, std::vector<float>> all;
    const Parameters& parameters = model_.parameters();
    for (const tape::ArrayId id : parameters.declared().weights_beside_layers()) {
      const tape::LearnedArray& array = parameters.declared()[id];
      if (array.rule->fused() == nullptr) continue;
      const std::span<const float> sums = parameters[array.states[0]];
      all[array.name] = {sums.begin(), sums.end()};
    }
    return all;
  }

  double objective() const {
    double sum = 0;
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      sum += reference_->objective(batch_, b, frozen_[b]);
    }
    return sum;
  }

  /// `weight` is one of reference_'s.
  void check(const std::string& what, double& weight, double gradient) {
    const double at = weight;
    weight = at + kStep;
    const double up = objective();
    weight = at - kStep;
    const double down = objective();
    weight = at;
    const double expected = (up - down) / (2 * kStep);
    not_zero_ += std::abs(expected) > 1e-4;
    INFO(what << ": gradient " << gradient << " instead of " << expected);
    CHECK(std::abs(gradient - expected) <= noise + 2e-4 * std::abs(expected));
  }

  /// fast_head.h: the bound of the curvature of each fast weight, times 4. In a batch a feature
  /// that stands several times in an example has part in it as often.
  std::map<ReferenceModel::CellName, double> curvatures() const {
    std::map<ReferenceModel::CellName, double> sums;
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      for (const feature::LinearRun& run : batch_.linear_runs_of(b)) {
        for (std::uint32_t i = run.begin; i < run.end; ++i) {
          double& sum = sums[reference_->name(run.group, batch_.linear[i].hash)];
          if (batch_.size() == 1) sum = 0;
          sum += 1 + frozen_[b].squares;
        }
      }
    }
    return sums;
  }

  void check_linear() {
    const auto curvature = curvatures();
    for (auto& [name, cell] : reference_->cells) {
      const auto& before = before_->cells.at(name);
      const auto& after = after_->cells.at(name);
      check("linear weight", cell.weight, before.weight - after.weight);
      if (!spec_.mixed()) continue;
      check("second linear weight", cell.weight2, before.weight2 - after.weight2);
      if (!spec_.fast_head) continue;
      check("fast weight", cell.fast, (before.fast - after.fast) * curvature.at(name) / 4);
    }
  }

  void check_rows() {
    for (std::size_t field = 0; field < reference_->rows.size(); ++field) {
      for (auto& [hash, row] : reference_->rows[field]) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          check("weight " + std::to_string(i) + " of a row of field " + std::to_string(field),
                row[i], before_->rows[field].at(hash)[i] - after_->rows[field].at(hash)[i]);
        }
      }
    }
  }

  void check_layers() {
    for (std::size_t l = 0; l < reference_->layers.size(); ++l) {
      ReferenceModel::Layer& layer = reference_->layers[l];
      const std::string name = "layer " + std::to_string(l);
      for (std::size_t o = 0; o < layer.bias.size(); ++o) {
        check(name + " bias", layer.bias[o],
              before_->layers[l].bias[o] - after_->layers[l].bias[o]);
      }
      for (std::size_t o = 0; o < layer.weights.size(); ++o) {
        for (std::size_t i = 0; i < layer.weights[o].size(); ++i) {
          check(name + " weight", layer.weights[o][i],
                before_->layers[l].weights[o][i] - after_->layers[l].weights[o][i]);
        }
      }
    }
  }

  void check_arrays() {
    if (spec_.mixed()) {
      check_array("groups.weight", reference_->group_weights, after_->group_weights);
    }
    for (auto& [name, values] : reference_->arrays) {
      check_array(name, values, after_->arrays.at(name));
    }
  }

  /// It moves by an AdaGrad of its own, whose sum grows by the square of the gradient.
  void check_array(const std::string& name, std::vector<double>& values,
                   const std::vector<double>& after) {
    const std::vector<float> sums = sums_of_arrays().at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double square = sums[i] - sums_.at(name)[i];
      const double at = values[i];
      const double sign = after[i] > at ? -1 : 1;
      double slope[2];
      for (int side : {0, 1}) {
        values[i] = at + (side == 0 ? kStep : -kStep);
        slope[side] = objective();
      }
      values[i] = at;
      const double expected = (slope[0] - slope[1]) / (2 * kStep);
      INFO("number " << i << " of " << name << ": " << square << " instead of "
                     << expected * expected);
      CHECK(std::abs(square - expected * expected) <= 1e-6 + 1e-3 * expected * expected);
      if (std::abs(expected) > 1e-6) CHECK(sign * expected > 0);
    }
  }

  Spec spec_;
  Model model_;
  std::unique_ptr<Sample> sample_;
  feature::FeatureBatch batch_;
  std::unique_ptr<ReferenceModel> reference_, before_, after_;
  std::vector<ReferenceScores> frozen_;
  std::map<std::string, std::vector<float>> sums_;
  std::size_t not_zero_ = 0;
};

Spec spec_of(spec::Heads heads, std::uint32_t k, std::vector<std::uint32_t> hidden) {
  Spec spec;
  spec.heads = heads;
  spec.ffm_k = k;
  spec.hidden = std::move(hidden);
  spec.admit = 1;
  return spec;
}

TEST_CASE("gradients of one example are those of its loss", "[digits]") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::uint32_t k = GENERATE(0, 1, 2, 3, 4, 5, 8, 12, 16);
  for (const std::uint32_t fields : {1u, 2u, 5u}) {
    for (const std::vector<std::uint32_t>& hidden :
         {std::vector<std::uint32_t>{}, {7}, {6, 5}, {4, 3, 5}}) {
      if (k == 0 && !hidden.empty()) continue;
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        for (const bool slice : {false, true}) {
          Spec spec = spec_of(heads, k, hidden);
          spec.adagrad_slice = slice;
          LineShape shape;
          shape.fields = fields;
          shape.vocabulary = 6;
          INFO("mixed " << spec.mixed() << " k " << k << " fields " << fields << " layers "
                        << hidden.size() << " slice " << slice << " kernels " << kernels->name);
          GradientCheck(spec, shape, 1, *kernels).run();
        }
      }
    }
  }
}

TEST_CASE("gradients of several towers, over the same inputs and others") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  for (const std::string more :
       {"mlp:in=merged,hidden=4+3", "mlp:in=merged,hidden=6 mlp:in=merged,hidden=none",
        "mlp:in=pairs,hidden=4", "mlp:in=embeddings+merged,hidden=4 mlp:in=embeddings+pairs"}) {
    for (const std::size_t examples : {1, 3}) {
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        INFO(more << ", " << examples << " examples, kernels " << kernels->name);
        Spec spec = spec_of(heads, 3, {6});
        spec::set_towers(spec, more);
        if (spec.some_tower_reads(spec::TowerSpec::kEmbeddings)) spec.embedding_dim = 2;
        GradientCheck(spec, LineShape{}, examples, *kernels).run();
      }
    }
  }
}

TEST_CASE("gradients of every kind of model, of one example and of a batch", "[digits]") {
  for (NamedSpec kind : specs_to_test()) {
    // The rules of the others are no plain steps: optimizer_test.cc has them.
    spec::set_optimizer(kind.spec, "adagrad");
    kind.spec.admit = 1;
    kind.spec.per_example_updates = false;    // of which per_example_test.cc is
    kind.spec.nn_clip = kind.spec.nn_l2 = 0;  // layer_steps_test.cc
    kind.spec.nn_warmup = 0;
    for (const std::size_t examples : {1, 4}) {
      for (const bool repeats : {false, true}) {
        if (examples == 1 && repeats && kind.spec.has_rows()) continue;  // a row steps twice
        LineShape shape;
        shape.vocabulary = 4;
        shape.repeats = repeats;
        INFO(kind.name << ", " << examples << " examples");
        GradientCheck(kind.spec, shape, examples, kernels::active()).run();
      }
    }
  }
}

TEST_CASE("gradients of towers over embeddings", "[digits]") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::uint32_t dim = GENERATE(1, 3, 4, 8, 11);
  for (const char* const towers :
       {"fm", "fm:pairs=all", "fwfm", "mlp:hidden=none", "mlp:hidden=7+3", "cross:layers=1",
        "cross:layers=3,hidden=5", "cross2:layers=1,rank=1", "cross2:layers=3,rank=5,hidden=4",
        "fwfm mlp:hidden=4 fm cross fm:pairs=all"}) {
    for (const std::uint32_t fields : {1u, 2u, 5u}) {
      for (const bool mean : {false, true}) {
        for (const kernels::Kernels* kernels : kernels_to_test()) {
          const bool beside = dim == 3;
          Spec spec =
              spec_of(heads, beside ? 2 : 0,
                      beside ? std::vector<std::uint32_t>{4} : std::vector<std::uint32_t>{});
          spec.embedding_dim = dim;
          spec::set_towers(spec, towers);
          spec.pool = mean ? block::Pool::kMean : block::Pool::kSum;
          LineShape shape;
          shape.fields = fields;
          shape.vocabulary = 6;
          INFO(towers << " mixed " << spec.mixed() << " dim " << dim << " fields " << fields
                      << " mean " << mean << " kernels " << kernels->name);
          GradientCheck(spec, shape, dim == 4 ? 3 : 1, *kernels).run();
        }
      }
    }
  }
}

TEST_CASE("gradients of interaction modules, alone and in layers") {
  const std::uint32_t dim = GENERATE(3, 4, 6);
  for (const std::string towers :
       {"modules=linear,layers=1,tokens=3,norm=no,shortcut=no",
        "modules=attention,layers=1,tokens=2",
        "modules=attention,layers=2,tokens=3,shortcut=no,norm=no", "modules=convolution,filters=3",
        "modules=convolution,layers=1,filters=1,norm=no,tokens=1",
        "modules=cross,tokens=5,layers=1", "modules=cross,tokens=3,layers=3,norm=no",
        "modules=dot,tokens=1", "modules=dot,tokens=3,layers=3,shortcut=no",
        "modules=product,tokens=3", "modules=product,tokens=3,layers=1,norm=no",
        "modules=mlp,tokens=3,hidden=4", "modules=experts,experts=3,top=2,tokens=2",
        "modules=experts,experts=4,top=3,tokens=3,layers=3", "modules=experts,experts=2,layers=1",
        "modules=attention+cross+dot/linear+product/convolution+experts+mlp,layers=3,tokens=3",
        "modules=linear+dot,tokens=2,layers=3,ensemble=concat,norm=no",
        "modules=cross+experts,tokens=3,ensemble=weighted"}) {
    for (const std::uint32_t fields : {1u, 2u, 5u}) {
      for (const kernels::Kernels* kernels : kernels_to_test()) {
        Spec spec = spec_of(dim == 3 ? spec::Heads::kMixed : spec::Heads::kOne, 0, {});
        spec.embedding_dim = dim;
        const auto has = [&](const char* word) { return towers.find(word) != towers.npos; };
        std::string tower = "dhen:" + towers;
        if (!has("layers=")) tower += ",layers=2";
        if (has("attention")) tower += dim == 6 ? ",heads=3" : ",heads=1";
        if (has("attention") || has("dot") || has("product") || has("mlp") || has("experts")) {
          tower += ",width=4";
        }
        spec::set_towers(spec, tower);
        LineShape shape;
        shape.fields = fields;
        shape.vocabulary = 6;
        INFO(towers << " dim " << dim << " fields " << fields << " kernels " << kernels->name);
        GradientCheck check(spec, shape, dim == 3 ? 1 : 3, *kernels);
        check.noise = 1e-5;  // norms take differences, and divide by what is left
        check.run();
      }
    }
  }
}

TEST_CASE("gradients of a batch are the sums of its examples'") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  const std::size_t examples = GENERATE(2, 5);
  for (const std::vector<std::uint32_t>& hidden : {std::vector<std::uint32_t>{}, {7}, {5, 4}}) {
    LineShape shape;
    shape.vocabulary = 3;  // rows, cells and neurons are shared by the examples
    shape.repeats = true;
    GradientCheck(spec_of(heads, 3, hidden), shape, examples, kernels::active()).run();
  }
}

TEST_CASE("gradients where features lack linear weights, share them, or rows of one field meet") {
  const spec::Heads heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  Spec spec = spec_of(heads, 4, {5});
  SECTION("linear weights for some") {
    spec.features.linear_all = false;
    spec.features.linear = {"B"};
  }
  SECTION("no linear weights") { spec.features.linear_all = false; }
  SECTION("interactions, in group 0") { spec.features.interactions = {{"A", "B"}, {"C", "D"}}; }
  SECTION("fields of several namespaces") { spec.features.fields = {{"A", "B", "C"}, {"C", "D"}}; }
  SECTION("a namespace in two fields, of which one has linear weights in common with none") {
    spec.features.fields = {{"A", "B"}, {"B", "C"}, {"D"}};
    spec.features.linear_all = false;
    spec.features.linear = {"B", "D"};
  }
  SECTION("linear weights without keys, rows with them") { spec.bit_precision = 3; }
  SECTION("no constant") { spec.constant = false; }
  SECTION("no fast head") { spec.fast_head = false; }
  for (const std::size_t examples : {1, 3}) {
    GradientCheck(spec, LineShape{}, examples, kernels::active()).run();
  }
}

TEST_CASE("l2 adds l2 * w to the gradient of what has one") {
  for (const float l2 : {0.0f, 0.125f}) {
    Spec spec = spec_of(spec::Heads::kOne, 0, {});
    spec.linear = {1, 0, 0};
    spec.l2 = l2;
    Model model(spec, kTestMemory);
    Sample sample("1 |A a\n-1 |A b\n");
    const feature::FeatureBatch both = sample.batch(model);
    randomise(model, both, 1);
    const auto weight = [&](std::size_t i) {
      return model.tables().find_cell(0, both.linear[i].hash)->weight;
    };
    const float a = weight(0), b = weight(1);
    const float bias = model.parameters().scalars.bias;
    Trainer(model, kernels::active()).learn(model, sample.batch(model, 0, 1));
    const float error = 1 / (1 + std::exp(-(a + bias))) - 1;
    CHECK(weight(0) == Approx(a - error - l2 * a));
    CHECK(weight(1) == b);
  }
}

}  // namespace
}  // namespace leveret::model
