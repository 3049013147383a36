// What blocks hand on of gradients, and the two sinks that take it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <utility>
#include <vector>

#include "optim/sums.h"
#include "random_model.h"
#include "specs_to_test.h"

namespace leveret::model {
namespace {

/// Writes down what it is handed.
class Record final : public tape::GradientSink {
 public:
  void columns(const tape::ColumnsGradient&) override { FAIL("examples are whole"); }
  void layer(const tape::LayerGradient& gradient) override {
    layers.push_back(gradient.layer);
    std::fill_n(gradient.d_in, gradient.rows.count * gradient.rows.width, 0.0f);
  }
  void rows(std::size_t part, const tape::RowGradients&) override { parts.push_back(part); }
  void cells(const tape::CellGradients& gradients) override {
    ++times_cells;
    by_group = gradients.d_groups != nullptr;
  }
  void array(tape::ArrayId id, const float*) override { arrays.push_back(id); }

  std::vector<std::size_t> layers, parts;
  int times_cells = 0;
  bool by_group = false;
  std::vector<tape::ArrayId> arrays;
};

TEST_CASE("blocks hand on each layer, part of rows and array once, and the cells") {
  for (const NamedSpec& named : specs_to_test()) {
    INFO(named.name);
    Spec spec = named.spec;
    Model model(spec, kTestMemory);
    Sample sample(random_lines(6, {}, 1));
    const feature::FeatureBatch batch = sample.batch(model);
    randomise(model, batch, 2);
    Trainer trainer(model, kernels::active());
    trainer.forward(model, batch);
    Record record;
    trainer.tape.sink = &record;
    trainer.network.backward(model.parameters(), trainer.tape);
    const Parameters& parameters = model.parameters();
    std::vector<std::size_t> layers, parts;
    for (std::size_t l = parameters.layer_count(); l-- > 0;) layers.push_back(l);
    if (model.tables().has_rows()) {
      for (std::size_t p = model.tables().row_layout().parts().size(); p-- > 0;) parts.push_back(p);
    }
    const std::vector<tape::ArrayId> arrays = parameters.declared().weights_beside_layers();
    CHECK(record.layers == layers);
    CHECK(record.parts == parts);
    std::ranges::sort(record.arrays);
    CHECK(record.arrays == arrays);
    CHECK(record.times_cells == 1);
    CHECK(record.by_group == (!spec.mixed() && model.config().merges()));
  }
}

/// The step of a batch by sums, as somebody takes it to whom they have been shipped.
void step_by_sums(Model& model, Trainer& trainer, const feature::FeatureBatch& batch) {
  trainer.forward(model, batch);
  Parameters& parameters = model.parameters();
  std::vector<float> common(optim::Sums::common_floats(parameters));
  optim::Sums sums(trainer.optimizer, parameters, trainer.tape, common);
  trainer.network.backward(parameters, trainer.tape);
  sums.add_common();
  std::vector<std::pair<table::Cell*, float>> cells;
  sums.visit_cells([&](const table::Cell& cell, float gradient) {
    cells.emplace_back(const_cast<table::Cell*>(&cell), gradient);
  });
  std::map<std::byte*, std::vector<float>> rows;
  sums.visit_rows([&](std::size_t part, const std::byte* row, const float* of_part) {
    std::vector<float>& all = rows[const_cast<std::byte*>(row)];
    all.insert(all.end(), of_part, of_part + trainer.tape.row_layout->parts()[part].weights());
  });
  optim::step_common(trainer.optimizer, parameters, common);
  for (const auto& [cell, gradient] : cells) trainer.optimizer.cells().step(*cell, gradient);
  for (std::size_t i = 0; i < batch.field_features.size(); ++i) {
    const auto found = rows.find(trainer.tape.to_learn.rows[i]);
    if (found == rows.end()) continue;
    const auto run = std::ranges::find_if(
        batch.runs, [&](const feature::FieldRun& r) { return i >= r.begin && i < r.end; });
    trainer.optimizer.rows().step_row(parameters, *trainer.tape.row_layout,
                                      {run->field, table::key_of(batch.field_features[i].hash)},
                                      found->first, found->second.data());
    rows.erase(found);
  }
  CHECK(rows.empty());
}

TEST_CASE("gradients that are added up and stepped by later move a model as steps at once do") {
  Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.embedding_dim = 4;
  spec::set_towers(spec, "fm:pairs=all");
  spec.hidden = {5, 3};
  spec.batch_size = 16;
  spec.per_example_updates = false;
  Model at_once(spec, kTestMemory), later(spec, kTestMemory);
  Sample sample(random_lines(48, {}, 3));
  const feature::FeatureBatch all = sample.batch(at_once);
  sample.batch(later);
  randomise(at_once, all, 4);
  randomise(later, all, 4);
  Trainer steps(at_once, kernels::active()), sums(later, kernels::active());
  for (Trainer* trainer : {&steps, &sums}) trainer->tape.in_batches = true;
  const std::vector<float> before = all_weights(at_once);
  for (std::size_t first = 0; first < 48; first += 16) {
    steps.learn(at_once, sample.batch(at_once, first, 16));
    step_by_sums(later, sums, sample.batch(later, first, 16));
  }
  const std::vector<float> one = all_weights(at_once), other = all_weights(later);
  CHECK(one != before);
  REQUIRE(one.size() == other.size());
  // Layers add up examples in another order on some instruction sets. A code of rows is 2^-12 at
  // least: those must be equal.
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i] == Approx(other[i]).epsilon(1e-5).margin(1e-7));
  }
}

}  // namespace
}  // namespace leveret::model
