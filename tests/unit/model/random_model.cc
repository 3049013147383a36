#include "random_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/rows/codec.h"

namespace leveret::model {
namespace {

using Random = std::mt19937;

float uniform(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}

/// Of either sign, never near 0.
float signed_between(Random& random, float low, float high) {
  return (random() % 2 == 0 ? 1.0f : -1.0f) * uniform(random, low, high);
}

void fill(Random& random, std::span<float> values, float size) {
  for (float& value : values) value = uniform(random, -size, size);
}

/// Half of them have had values other than 1.
void randomise_largest_values(Model& model, const Tape& tape, Random& random) {
  for (const feature::LinearRun& run : tape.batch->linear_runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (random() % 2 == 0) continue;
      const float largest = uniform(random, 0.25f, 4);
      if (model.tables().hashed() != nullptr) {
        table::hashed(*tape.to_learn.cells[i]).largest_value = largest;
      } else {
        model.tables().of_feature_group(run.group).raise_largest_value(*tape.to_learn.slots[i],
                                                                       largest);
      }
    }
  }
}

void randomise_cells(Model& model, const Tape& tape, Random& random) {
  // Before the counts, as learning does: then the first one may be below 1.
  if (model.spec().mixed()) randomise_largest_values(model, tape, random);
  for (std::size_t i = 0; i < tape.batch->linear.size(); ++i) {
    table::Cell& cell = *tape.to_learn.cells[i];
    cell.weight = signed_between(random, 0.02f, 0.2f);
    if (!model.spec().mixed()) continue;
    table::MixedCell& both = table::mixed(cell);
    both.weight2 = signed_between(random, 0.02f, 0.2f);
    if (model.spec().fast_head) both.fast = signed_between(random, 0.02f, 0.2f);
    // A feature in five is new to the counts.
    both.count = random() % 5 == 0 ? 0.0f : uniform(random, 1, 50);
    both.clicks = both.count * uniform(random, 0.05f, 0.5f);
  }
}

void append(std::vector<float>& to, std::span<const float> values) {
  to.insert(to.end(), values.begin(), values.end());
}

std::vector<float> numbers_of(const table::Rows& rows, table::Row row,
                              const table::RowLayout::Column& column) {
  std::vector<float> numbers(column.count);
  for (std::size_t i = 0; i < column.count; ++i) {
    numbers[i] = kernels::decode(column.codec, rows.at(row) + column.begin, i);
  }
  return numbers;
}

void append_shard(std::vector<float>& to, const table::Shard& shard) {
  const std::size_t floats = table::cell_floats(shard.cells());
  const auto add_cell = [&](const table::Slot& slot) {
    if (floats > 0) append(to, {&table::cell_of(&slot)->weight, floats});
  };
  for_each_in_order(shard, [&](const table::Slot& slot) {
    add_cell(slot);
    if (shard.cells() == table::CellKind::kMixed) to.push_back(shard.largest_value(slot));
  });
  if (shard.overflow_slot() != nullptr) add_cell(*shard.overflow_slot());
  for (table::Row row = 0; row < shard.rows().size(); ++row) {
    append(to, weights_of(shard.rows(), row));
    append(to, states_of(shard.rows(), row));
  }
}

}  // namespace

std::vector<const kernels::Kernels*> kernels_to_test() {
  std::vector<const kernels::Kernels*> all{kernels::find("reference")};
  if (&kernels::active() != all[0]) all.push_back(&kernels::active());
  return all;
}

Sample::Sample(std::string_view text, text::ParserOptions options) {
  chunk.bytes = text;
  text::Parser(names, options).parse(chunk);
  for (const text::BadLine& bad : chunk.bad) {
    throw std::logic_error("line " + std::to_string(bad.line) + ": " + bad.what);
  }
}

feature::FeatureBatch Sample::batch(Model& model, std::size_t first, std::size_t count) {
  feature::FeatureBatch batch;
  for (std::size_t next = first; next < first + count;) {
    next += model.features().map(chunk, next, first + count - next, batch);
    if (next < first + count) {
      model.features().meet(names, chunk, next, true);
      model.fit_fields();
    }
  }
  return batch;
}

Spec with_unit_steps(Spec spec) {
  spec.row_bits = 32;  // what rounding adds to a step is in fixed_rows_test.cc
  for (spec::PartLearning* part : {&spec.linear, &spec.rows, &spec.nn}) {
    part->rate = 1;
    part->power_t = 0;
  }
  return spec;
}

void randomise(Model& model, const feature::FeatureBatch& batch, std::uint32_t seed) {
  Random random(seed);
  Tape tape;
  Lookup(model).resolve_all(model, batch, tape);
  randomise_cells(model, tape, random);
  for (table::Shard& shard : model.tables()) {
    for (table::Row row = 0; row < shard.rows().size(); ++row) {
      std::vector<float> weights = weights_of(shard.rows(), row);
      for (float& weight : weights) weight = signed_between(random, 0.1f, 0.6f);
      set_weights(shard.rows(), row, weights);
    }
  }
  Parameters& parameters = model.parameters();
  for (const tape::Dense& layer : parameters.layers()) {
    const float size = 1.5f / std::sqrt(static_cast<float>(layer.inputs));
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      fill(random, {&layer.weights[o * layer.stride()], layer.inputs}, size);
    }
    fill(random, layer.bias, 0.3f);
  }
  for (const tape::ArrayId id : parameters.declared().weights_beside_layers()) {
    for (float& number : parameters[id]) number = uniform(random, 0.1f, 0.5f);
  }
  tape::Scalars& scalars = parameters.scalars;
  scalars.bias = uniform(random, -0.3f, 0.3f);
  scalars.bias2 = uniform(random, -0.3f, 0.3f);
  if (model.spec().fast_head) scalars.fast_bias = uniform(random, -0.3f, 0.3f);
  scalars.clicks = 30 + random() % 30;
  scalars.count = 200;
  for (const tape::TotalsDecl& totals : parameters.declared().totals) {
    constexpr double kExamples = 10;
    double* const count = scalars.totals.data() + totals.count;
    const std::size_t numbers = totals.size;
    *count = kExamples;
    for (std::size_t i = 0; i < numbers; ++i) {
      count[1 + i] = uniform(random, -1, 1);
      count[1 + numbers + i] = kExamples * uniform(random, 0.5f, 2);
    }
  }
  for (const std::string mixer : {"first_mixer", "second_mixer"}) {
    for (float& weight : array_of(parameters, mixer + ".weight")) {
      weight = uniform(random, 0.1f, 0.6f);
    }
    for (float& share : array_of(parameters, mixer + ".log_share")) share = uniform(random, -3, 0);
  }
}

std::vector<float> weights_of(const table::Rows& rows, table::Row row) {
  std::vector<float> weights;
  const table::RowLayout& layout = rows.layout();
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    const table::RowPart& part = layout.parts()[p];
    const std::vector<float> stored = numbers_of(rows, row, layout.weights(p));
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (i % part.k < part.used_k) {
        weights.push_back(stored[i]);
      } else if (stored[i] != 0.0f) {
        throw std::logic_error("weight " + std::to_string(i) + " of row " + std::to_string(row) +
                               " is beyond k and yet " + std::to_string(stored[i]));
      }
    }
  }
  return weights;
}

void set_weights(table::Rows& rows, table::Row row, const std::vector<float>& weights) {
  const table::RowLayout& layout = rows.layout();
  const float* from = weights.data();
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    const table::RowPart& part = layout.parts()[p];
    const table::RowLayout::Column& column = layout.weights(p);
    for (std::size_t i = 0; i < std::size_t{part.slots} * part.used_k; ++i) {
      const std::size_t at = i / part.used_k * part.k + i % part.used_k;
      kernels::encode(column.codec, rows.at(row) + column.begin, at, *from++);
    }
  }
}

std::vector<float> states_of(const table::Rows& rows, table::Row row) {
  std::vector<float> states;
  const table::RowLayout& layout = rows.layout();
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
      append(states, numbers_of(rows, row, layout.state(p, s)));
    }
  }
  return states;
}

table::Row find_row(const Model& model, std::uint32_t field, std::uint32_t hash) {
  const table::Shard& shard = model.tables().field(field);
  const table::Slot* const slot = shard.find(table::key_of(hash));
  return slot != nullptr ? shard.row_of(*slot) : table::kNoRow;
}

std::uint64_t count_rows(const Model& model) {
  std::uint64_t rows = 0;
  for (const table::Shard& shard : model.tables()) rows += shard.rows().size();
  return rows;
}

std::uint64_t count_features(const Model& model) {
  std::uint64_t features = 0;
  for (const table::Shard& shard : model.tables()) features += shard.index().size();
  return features;
}

std::span<const float> tensor_of(const Model& model, const Tape& tape, std::string_view name) {
  const tape::TensorPlace& at = tape[model.parameters().declared().find_tensor(name)];
  return {at.values, tape.size * at.stride};
}

std::span<const float> gradient_of(const Model& model, const Tape& tape, std::string_view name) {
  const tape::TensorPlace& at = tape[model.parameters().declared().find_tensor(name)];
  return {at.gradient, tape.size * at.d_stride};
}

std::span<float> array_of(Parameters& parameters, std::string_view name) {
  std::span<float> found;
  parameters.for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    if constexpr (std::is_same_v<T, float>) {
      if (values.array.name == name) found = values.all();
    }
  });
  if (found.empty()) throw std::logic_error("there is no array " + std::string(name));
  return found;
}

HeadScores scores_of(const Model& model, const Tape& tape, std::size_t b) {
  const tape::Declarations& declared = model.parameters().declared();
  const auto place = [&](std::string_view name) -> const tape::TensorPlace* {
    const tape::HeadDecl* const head = declared.find_head(name);
    return head != nullptr ? &tape[head->score] : nullptr;
  };
  const tape::TensorPlace& start = tape[declared.joint.front()];
  const tape::TensorPlace& whole = tape[declared.joint.back()];
  const auto score = [&](std::string_view name) {
    const tape::TensorPlace* const head = place(name);
    return head != nullptr ? head->values[b] : start.values[b];
  };
  const tape::TensorPlace* const ffm = place("ffm");
  const tape::TensorPlace* const fm = place("fm");
  const tape::TensorPlace& rows = ffm != nullptr ? *ffm : fm != nullptr ? *fm : start;
  return {.base = tensor_of(model, tape, "linear.base")[b],
          .linear = score("linear"),
          .linear2 = score("linear2"),
          .counts = score("counts"),
          .fast = score("fast"),
          .first = score("first"),
          .ffm = rows.values[b],
          .deep = whole.values[b],
          .last = tape.answers[b],
          .d_ffm = rows.gradient[b],
          .d_deep = whole.gradient[b]};
}

std::vector<float> all_weights(const Model& model) {
  std::vector<float> all;
  const table::Tables& tables = model.tables();
  if (const table::HashedCells* const cells = tables.hashed()) {
    for_each_cell(tables, [&](const table::Cell& cell) {
      append(all, {&cell.weight, cells->number_bytes() / sizeof(float)});
    });
  }
  for (const table::Shard& shard : tables) append_shard(all, shard);
  const Parameters& parameters = model.parameters();
  parameters.for_each([&](const auto& values) {
    for (const auto value : values.all()) all.push_back(static_cast<float>(value));
  });
  return all;
}

}  // namespace leveret::model
