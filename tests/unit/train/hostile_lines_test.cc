// Lines at the ends of what the parser takes: values whose squares and products are no floats, and
// importances that make them larger still. Whatever the model, it stays one that can be saved, and
// goes on to learn from usual lines.
#include <array>
#include <cmath>
#include <random>

#include "modelfile/finite.h"
#include "train_run.h"

namespace leveret::train {
namespace {

std::string hostile_lines(std::size_t count, std::uint32_t seed) {
  constexpr std::array kValues = {"",      "",       ":1e38",   ":-1e38", ":1e19",
                                  ":1e13", ":1e-38", ":3.4e38", ":-1",    ":0"};
  constexpr std::array kImportances = {"", "", "", " 1e12", " 1e6", " 0", " 1e-30"};
  std::mt19937 random(seed);
  const auto one_of = [&](const auto& all) { return all[random() % all.size()]; };
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += random() % 2 == 0 ? "1" : "-1";
    lines += one_of(kImportances);
    for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
      if (random() % 4 == 0) continue;
      lines += std::string(" |") + name;
      for (const char* prefix : {" a", " b"}) {
        lines += prefix + std::to_string(random() % 12) + one_of(kValues);
        if (random() % 2 == 0) break;  // one feature in a field is learned in place
      }
    }
    lines += '\n';
  }
  return lines;
}

/// Learns usual lines, and has numbers to say of all of them.
void check_learns(TrainRun& run, const std::string& usual) {
  const std::size_t before = run.outcomes.items.size();
  run.learn(usual);
  std::size_t numbers = 0;
  for (std::size_t i = before; i < run.outcomes.items.size(); ++i) {
    numbers += std::isfinite(run.outcomes.items[i].score) ? 1 : 0;
  }
  CHECK(numbers == run.outcomes.items.size() - before);
}

TEST_CASE("hostile lines leave a model that can be saved and learns on") {
  const std::string hostile = hostile_lines(400, 7);
  const std::string usual = model::random_lines(60, usual_shape(), 31);
  for (const NamedSpec& kind : specs_to_test()) {
    for (const unsigned bits : {32u, 16u, 12u, 8u, 4u}) {
      spec::Spec spec = kind.spec;
      spec.row_bits = bits;
      spec.weight_range = 0;
      if (spec.has_rows()) spec.admit = 1;
      INFO(kind.name << ", " << bits << " bits");
      TrainRun run(spec);
      run.learn(hostile);
      CHECK(modelfile::count_non_finite(run.model) == 0);
      check_learns(run, usual);
      CHECK(modelfile::count_non_finite(run.model) == 0);
      CHECK_NOTHROW(run.saved());
    }
  }
}

/// The largest weight of all rows: beyond first weights where one has been driven to an end.
float largest_row_weight(const model::Model& model) {
  float largest = 0;
  for (const table::Shard& shard : model.tables()) {
    const table::RowLayout& layout = shard.rows().layout();
    for (std::size_t part = 0; part < layout.parts().size(); ++part) {
      const table::RowLayout::Column& column = layout.weights(part);
      std::vector<float> weights(column.count);
      for (table::Row row = 0; row < shard.rows().size(); ++row) {
        kernels::active().decode(column.codec, shard.rows().at(row) + column.begin, column.count,
                                 weights.data());
        for (const float w : weights) largest = std::max(largest, std::fabs(w));
      }
    }
  }
  return largest;
}

TEST_CASE("no value drives the row of its feature to an end") {
  for (const NamedSpec& kind : specs_to_test()) {
    if (!kind.spec.has_rows() || kind.spec.rows.rule == rules::kSgd) continue;
    for (const unsigned bits : {32u, 16u, 12u, 8u, 4u}) {
      for (const bool nearest : {false, true}) {
        for (const char* value : {"1e14", "1e16", "1e20", "1e30", "3.4e38", "-3.4e38"}) {
          spec::Spec spec = kind.spec;
          spec.row_bits = bits;
          spec.rounds_to_nearest = nearest && bits < 32;
          spec.weight_range = 0;
          spec.admit = 1;
          INFO(kind.name << ", " << bits << " bits, " << (nearest ? "nearest, " : "") << value);
          TrainRun run(spec);
          const std::string line = std::string("1 |A a:") + value + " |B b |C c:" + value + "\n";
          run.learn(line);
          // First weights are below .3, and a step of AdaGrad below its rate times sqrt(k).
          CHECK(largest_row_weight(run.model) < .3f + 3 * .15f);
        }
      }
    }
  }
}

TEST_CASE("rates that drive weights to the ends of their range leave finite scores") {
  const std::string usual = model::random_lines(200, usual_shape(), 32);
  for (const NamedSpec& kind : specs_to_test()) {
    if (!kind.spec.has_rows()) continue;
    for (const unsigned bits : {16u, 12u, 8u, 4u}) {
      for (const float rate : {1e2f, 1e6f, 1e30f}) {
        spec::Spec spec = kind.spec;
        spec.row_bits = bits;
        spec.weight_range = 0;
        spec.admit = 1;
        spec.rows.rate = rate;
        INFO(kind.name << ", " << bits << " bits, rate " << rate);
        TrainRun run(spec);
        check_learns(run, usual);
        CHECK(modelfile::count_non_finite(run.model) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::train
