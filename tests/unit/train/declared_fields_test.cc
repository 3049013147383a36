// Fields that are declared (--field): there before the first line, in their order.
#include "train_run.h"

namespace leveret::train {
namespace {

model::LineShape shape_of_lines() {
  model::LineShape shape;
  shape.fields = 5;
  return shape;
}

std::vector<std::vector<std::string>> letters(const std::string& text) {
  std::vector<std::vector<std::string>> fields;
  for (const char letter : text) fields.push_back({std::string(1, letter)});
  return fields;
}

std::vector<std::size_t> widths(const model::Model& model) {
  std::vector<std::size_t> all{model.parameters().layout.fields, model.tables().fields(),
                               model.tables().row_layout().stride()};
  for (const tape::ConstDense& layer : model.parameters().layers()) all.push_back(layer.inputs);
  return all;
}

TEST_CASE("fields declared in the order of appearance learn what met ones learn, bit for bit") {
  // The first line has all of them, so that there is no other way to first weights either.
  const std::string lines = model::random_lines(300, shape_of_lines(), 7);
  for (const NamedSpec& kind : specs_to_test()) {
    if (!kind.spec.features.fields.empty()) continue;
    // Their group is there before the first field is met, and then starts with a weight of 1, not
    // of 1 / sqrt(fields).
    if (!kind.spec.features.interactions.empty()) continue;
    if (!kind.spec.features.numeric.empty()) continue;  // their namespaces become no fields
    INFO(kind.name);
    TrainRun met(kind.spec);
    met.learn(lines);
    spec::Spec spec = kind.spec;
    spec.features.fields = letters("ABCDE");
    TrainRun declared(spec);
    declared.learn(lines);
    CHECK(declared.probabilities() == met.probabilities());
    CHECK(declared.predict(lines) == met.predict(lines));
  }
}

TEST_CASE("rows and layers have their last shape before the first line") {
  spec::Spec spec;
  spec.admit = 1;
  spec.features.fields = letters("CAEZ");  // Z never comes, B and D are not declared
  TrainRun run(spec);
  const std::vector<std::size_t> first = widths(run.model);
  CHECK(first[0] == 4);
  CHECK(first[1] == 4);
  model::LineShape shape = shape_of_lines();
  shape.late = 20;
  const std::string lines = model::random_lines(300, shape, 7);
  for (std::size_t line = 0; line < 300; line += 60) {
    run.learn(cut(lines, line, 60));
    CHECK(widths(run.model) == first);
  }
  CHECK(run.model.features().field_names() == std::vector<std::string>{"C", "A", "E", ""});
  CHECK(run.model.tables().field(0).rows().size() > 0);
  CHECK(run.model.tables().field(3).rows().size() == 0);
  for (const feature::NamespacePlan& plan : run.model.features().plans()) {
    const bool declared = plan.name != "B" && plan.name != "D";
    CHECK(plan.fields.empty() == !declared);
    CHECK(plan.linear);
  }
  // The same with any other order of arrival: fields are what was declared.
  const files::TempFolder folder;
  save_model(run.model, folder / "model");
  TrainRun again(load_model(folder / "model", kTestMemory));
  CHECK(widths(again.model) == first);
  CHECK(again.predict(lines) == run.predict(lines));
}

TEST_CASE("a run that goes on with declared fields is an uninterrupted one") {
  spec::Spec spec;
  spec.features.fields = letters("EDCBA");
  model::LineShape shape = shape_of_lines();
  shape.late = 30;  // some come only after the break
  const std::string lines = model::random_lines(200, shape, 8);
  TrainRun whole(spec);
  whole.learn(lines);
  TrainRun first(spec);
  first.learn(cut(lines, 0, 40));
  const files::TempFolder folder;
  save_model(first.model, folder / "model");
  TrainRun second(load_model(folder / "model", kTestMemory));
  second.learn(cut(lines, 40, 160));
  CHECK(second.saved() == whole.saved());
}

}  // namespace
}  // namespace leveret::train
