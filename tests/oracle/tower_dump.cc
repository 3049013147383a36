// A model with towers over embeddings, examples, and what our program makes of them, as JSON, for
// towers.py to compute again.
//
//   tower_dump SEED [OPTION VALUE]...        options of `leveret train` that make a model
//
// Weights and examples are drawn at random. Gradients are those of the sum of all examples' losses:
// of layers and rows the step of plain gradient descent with rate 1, of other arrays what blocks
// hand on.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "block/linear_block.h"
#include "random_lines.h"
#include "random_model.h"
#include "reference_model.h"
#include "spec/entries.h"
#include "spec/tower_text.h"
#include "spec/towers.h"

namespace leveret::model {
namespace {

using Json = nlohmann::json;

Spec spec_of(int count, char** words) {
  Spec spec;
  for (int i = 0; i < count; i += 2) {
    const std::string option = words[i];
    const auto entry = std::ranges::find_if(spec::spec_entries(), [&](const spec::SpecEntry& of) {
      return option == std::string("--") + of.name;
    });
    if (entry == spec::spec_entries().end() || i + 1 == count) {
      throw std::runtime_error(option + ": no option of a model, or it has no value");
    }
    entry->set(spec, words[i + 1]);
  }
  spec::check_spec(spec);
  if (!spec.has_embeddings()) throw std::runtime_error("no tower over embeddings");
  return with_unit_steps(spec);
}

std::vector<std::uint32_t> values_of_key(const spec::TowerSpec& tower, const std::string& key) {
  const auto found = std::ranges::find(tower.options, key, &block::TowerOption::key);
  return found != tower.options.end() ? found->numbers : std::vector<std::uint32_t>();
}

/// 0: its kind has no such key.
std::uint32_t value_of_key(const spec::TowerSpec& tower, const std::string& key) {
  const std::vector<std::uint32_t> numbers = values_of_key(tower, key);
  return numbers.empty() ? 0 : numbers[0];
}

/// As --tower takes it.
std::string text_of(const Spec& spec, const spec::TowerSpec& tower) {
  Spec alone = spec;
  alone.more_towers = {tower};
  return spec::get_towers(alone);
}

Json towers_of(const Spec& spec) {
  Json all = Json::array();
  for (const spec::TowerSpec& tower : spec.more_towers) {
    all.push_back({{"name", tower.name},
                   {"kind", tower.kind->word},
                   {"layers", value_of_key(tower, "layers")},
                   {"keep", value_of_key(tower, "keep")},
                   {"heads", value_of_key(tower, "heads")},
                   {"hidden", values_of_key(tower, "hidden").size()},
                   {"own_loss", tower.own_loss},
                   {"fields", spec::chosen_fields(spec, tower)},
                   {"text", text_of(spec, tower)}});
  }
  return all;
}

/// Layers and embeddings by name; of rows the embedding comes last.
Json values_of(const ReferenceModel& model) {
  Json all = {{"layers", Json::object()}, {"rows", Json::object()}};
  for (const ReferenceModel::Layer& layer : model.layers) {
    all["layers"][layer.name] = {{"weights", layer.weights}, {"bias", layer.bias}};
  }
  for (std::size_t field = 0; field < model.rows.size(); ++field) {
    for (const auto& [hash, row] : model.rows[field]) {
      all["rows"][std::to_string(field) + ":" + std::to_string(hash)] =
          std::vector<double>(row.end() - model.spec.embedding_dim, row.end());
    }
  }
  return all;
}

/// d loss / d weight: where it was less where it is now.
Json difference(const Json& before, const Json& after) {
  if (before.is_number()) return before.get<double>() - after.get<double>();
  Json all = before;
  for (auto it = all.begin(); it != all.end(); ++it) {
    const Json& other = all.is_object() ? after.at(it.key()) : after.at(it - all.begin());
    *it = difference(*it, other);
  }
  return all;
}

/// What the tower adds to the head that it stands on.
float tower_score(const tape::Declarations& declared, const Tape& tape, std::size_t b,
                  const spec::TowerSpec& tower) {
  const tape::TensorId head = declared.find_head(tower.name)->score;
  const tape::TensorId before = tower.own_loss
                                    ? declared.find_head(block::LinearBlock::kFirst)->score
                                    : *std::prev(std::ranges::find(declared.joint, head));
  return tape[head].values[b] - tape[before].values[b];
}

/// What the towers get of example b of the tape, and what they make of it.
Json example_of(const Model& model, const Tape& tape, std::size_t b) {
  Json fields = Json::array();
  for (std::uint32_t f = 0; f < model.features().field_count(); ++f)
    fields.push_back(Json::array());
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t hash = tape.batch->field_features[i].hash;
      const std::string row = std::to_string(run.field) + ":" + std::to_string(hash);
      fields[run.field].push_back(
          {{"row", tape.rows[i] != nullptr ? Json(row) : Json()}, {"x", tape.field_values[i]}});
    }
  }
  const tape::Declarations& declared = model.parameters().declared();
  Json scores;
  for (const spec::TowerSpec& tower : model.spec().more_towers) {
    scores[tower.name] = tower_score(declared, tape, b, tower);
  }
  const HeadScores heads = scores_of(model, tape, b);
  const std::size_t numbers = model.config().numbers;
  const auto first = tape.batch->numbers.begin() + static_cast<std::ptrdiff_t>(b * numbers);
  return {{"label", tape.label(b)},
          {"numbers", std::vector<double>(first, first + static_cast<std::ptrdiff_t>(numbers))},
          {"importance", tape.importance(b)},
          {"before_towers", tape[declared.joint.front()].values[b]},
          {"first", heads.first},
          {"joint", heads.deep},
          {"fields", fields},
          {"scores", scores}};
}

Json dump(std::uint32_t seed, const Spec& spec) {
  constexpr std::size_t kExamples = 8;
  const LineShape shape{.fields = 5, .vocabulary = 12};
  Model model(spec, kTestMemory);
  // The first line has all fields, and is not learned: others lack some.
  Sample sample(random_lines(kExamples + 1, shape, seed), reading_numbers(spec));
  sample.batch(model, 0, 1);
  const feature::FeatureBatch batch = sample.batch(model, 1, kExamples);
  randomise(model, batch, seed);
  Trainer trainer(model, kernels::active());
  trainer.forward(model, batch);

  const ReferenceModel before(model, batch);
  Json all = values_of(before);
  all["dim"] = spec.embedding_dim;
  all["totals"] = before.totals;
  all["pool"] = spec.pool == block::Pool::kMean ? "mean" : "sum";
  all["towers"] = towers_of(spec);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    all["examples"].push_back(example_of(model, trainer.tape, b));
  }
  trainer.network.learn(model.tables(), model.parameters(), trainer.tape, trainer.optimizer);

  const Json after = values_of(ReferenceModel(model, batch));
  all["gradients"] = {{"layers", difference(all["layers"], after["layers"])},
                      {"rows", difference(all["rows"], after["rows"])},
                      {"arrays", Json::object()}};
  all["arrays"] = Json::object();
  for (const auto& [name, values] : before.arrays) {
    all["arrays"][name] = values;
    const float* const gradient = trainer.tape.gradient(model.parameters().find(name));
    all["gradients"]["arrays"][name] = std::vector<double>(gradient, gradient + values.size());
  }
  return all;
}

}  // namespace
}  // namespace leveret::model

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw std::runtime_error("usage: tower_dump SEED [OPTION VALUE]...");
    const leveret::spec::Spec spec = leveret::model::spec_of(argc - 2, argv + 2);
    const auto seed = static_cast<std::uint32_t>(std::stoul(argv[1]));
    std::puts(leveret::model::dump(seed, spec).dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tower_dump: %s\n", error.what());
    return 1;
  }
}
