#include "train/model_io.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/arena.h"
#include "model/spec_json.h"
#include "store/model_file.h"
#include "train/finite.h"

namespace leveret::train {
namespace {

using Json = nlohmann::ordered_json;
using model::Dense;
using model::FieldTable;
using model::Model;
using model::Scalars;
using store::Dtype;
using store::SectionView;
using store::StoredSection;

Json mixer_to_json(const model::MixerState& state) {
  return {{"weight", state.weight}, {"sum", state.sum}, {"log_share", state.log_share}};
}

model::MixerState mixer_from_json(const Json& json) {
  model::MixerState state;
  json.at("weight").get_to(state.weight);
  json.at("sum").get_to(state.sum);
  json.at("log_share").get_to(state.log_share);
  return state;
}

Json scalars_to_json(const Scalars& s) {
  return {{"clicks", s.clicks},
          {"count", s.count},
          {"bias", {s.bias, s.bias_sum, s.bias2, s.bias2_sum}},
          {"first_mixer", mixer_to_json(s.first)},
          {"second_mixer", mixer_to_json(s.second)},
          {"examples", s.examples},
          {"dropped_gradients", s.dropped_gradients},
          {"adam_steps", s.adam_steps}};
}

Scalars scalars_from_json(const Json& json) {
  Scalars s;
  json.at("clicks").get_to(s.clicks);
  json.at("count").get_to(s.count);
  const auto bias = json.at("bias").get<std::array<float, 4>>();
  s.bias = bias[0];
  s.bias_sum = bias[1];
  s.bias2 = bias[2];
  s.bias2_sum = bias[3];
  s.first = mixer_from_json(json.at("first_mixer"));
  s.second = mixer_from_json(json.at("second_mixer"));
  json.at("examples").get_to(s.examples);
  json.at("dropped_gradients").get_to(s.dropped_gradients);
  json.at("adam_steps").get_to(s.adam_steps);
  if (count_non_finite(s) > 0 || !(s.clicks > 0 && s.clicks < s.count)) {
    throw std::runtime_error("has a state with impossible numbers; the file is damaged");
  }
  return s;
}

/// State of the tables that is not in their sections.
Json tables_to_json(const Model& model) {
  Json fields = Json::array();
  for (const FieldTable& table : model.fields()) {
    fields.push_back({{"shared_row", table.shared_row()}, {"shared", table.shared()}});
  }
  return {{"linear_shared", model.linear().shared()},
          {"fields", std::move(fields)},
          {"state_bytes", model.row_shape().state_bytes()}};
}

SectionView arena_section(std::string name, Dtype dtype, std::vector<std::uint64_t> shape,
                          const model::Arena& arena) {
  const auto bytes = store::array_bytes(dtype, shape);
  return {std::move(name), dtype, std::move(shape), arena.data(), bytes.value_or(0)};
}

/// Where accumulators of 16-bit weights are floats, each is two elements.
Dtype row_dtype(const FieldTable& table) {
  return table.shape().codec.is_fixed(16) ? Dtype::kI16 : Dtype::kF32;
}

std::uint64_t row_elements(const FieldTable& table, std::size_t stride) {
  return stride / table.shape().codec.bytes(1);
}

void add_dense(std::vector<SectionView>& sections, const Dense& layer, std::size_t index) {
  const auto add = [&](const char* what, std::vector<std::uint64_t> shape,
                       std::span<const float> values) {
    if (values.empty()) return;
    sections.push_back(store::make_section<float>(fmt::format("dense.{}.{}", index, what),
                                                  Dtype::kF32, std::move(shape), values));
  };
  add("weights", {layer.outputs, layer.stride()}, layer.weights);
  add("bias", {layer.outputs}, layer.bias);
  add("weights_state", {layer.outputs, layer.stride()}, layer.weights_state);
  add("bias_state", {layer.outputs}, layer.bias_state);
  add("weights_moment", {layer.outputs, layer.stride()}, layer.weights_moment);
  add("bias_moment", {layer.outputs}, layer.bias_moment);
}

/// Where fields keep what they know in linear cells, the index is another section, as without that
/// knowledge it would say too little.
std::string index_name(const Model& model, const FieldTable& table) {
  return fmt::format("ffm.{}.{}", table.field(), model.rows_in_cells() ? "rest" : "index");
}

std::vector<SectionView> sections_of(const Model& model) {
  std::vector<SectionView> sections;
  const model::LinearTable& linear = model.linear();
  const std::uint64_t words = linear.slot_words();
  sections.push_back(arena_section("linear.slots", Dtype::kU32,
                                   {linear.arena().size() / (4 * words), words}, linear.arena()));
  if (!model.group_weights().empty()) {
    sections.push_back(store::make_section<float>(
        "groups", Dtype::kF32, {model.group_weights().size() / 2, 2}, model.group_weights()));
  }
  for (const FieldTable& table : model.fields()) {
    sections.push_back(
        arena_section(index_name(model, table), Dtype::kU64, {table.capacity()}, table.index()));
    sections.push_back(arena_section(fmt::format("ffm.{}.rows", table.field()), row_dtype(table),
                                     {table.rows(), row_elements(table, table.shape().stride())},
                                     table.row_arena()));
  }
  for (std::size_t l = 0; l < model.dense().size(); ++l) add_dense(sections, model.dense()[l], l);
  return sections;
}

using Shape = std::vector<std::uint64_t>;
using SlotFormat = model::LinearTable::SlotFormat;
constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

/// Reads a section into an arena, or says that it is missing or of the wrong shape. Each is
/// verified when it is loaded.
class SectionLoader {
 public:
  SectionLoader(const store::ModelFile& file, LoadBy by)
      : file_(file), by_(by), loaded_(file.sections().size()) {}

  const StoredSection& section(const std::string& name, Dtype dtype, const Shape& shape) const {
    const StoredSection* found = file_.find(name);
    if (found == nullptr || found->dtype != dtype) {
      throw std::runtime_error(
          fmt::format("has no section {} of type {}", name, store::dtype_name(dtype)));
    }
    bool fits = found->shape.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {
      fits = shape[i] == kAnyLength || shape[i] == found->shape[i];
    }
    if (!fits) {
      throw std::runtime_error(
          fmt::format("has section {} in a shape that its spec does not have; "
                      "the file is damaged",
                      name));
    }
    return *found;
  }

  /// A section that is mapped has no lead.
  model::Arena arena(const std::string& name, Dtype dtype, const Shape& shape,
                     std::uint64_t reserve, std::uint64_t lead = 0) {
    const StoredSection& stored = section(name, dtype, shape);
    set_loaded(stored);
    if (by_ == LoadBy::kMapping) {
      model::Arena arena(std::max<std::uint64_t>(stored.bytes, 1));
      if (arena.map(file_.fd(), stored.offset, stored.bytes)) {
        file_.verify_mapped(stored, arena.data());
        return arena;
      }
    }
    model::Arena arena(std::max<std::uint64_t>({stored.bytes, reserve, 1}), lead);
    if (!arena.resize(stored.bytes)) {
      throw std::runtime_error(
          fmt::format("needs {} bytes of memory for section {}, which the "
                      "system does not give",
                      stored.bytes, name));
    }
    file_.read(stored, arena.data());
    return arena;
  }

  /// How slots of the table are stored: as they are in memory, or as in files from before.
  SlotFormat slot_format(const std::string& name, const model::LinearTable& table) const {
    const StoredSection& slots = section(name, Dtype::kU32, {kAnyLength, kAnyLength});
    const bool former = table.hashed() && slots.shape[0] == table.capacity() + 1;
    return former ? SlotFormat::kFormer : SlotFormat::kOwn;
  }

  /// Files from before linear cells had row words have an index of all keys.
  std::string index_name(const Model& model, const FieldTable& table) const {
    const std::string all = fmt::format("ffm.{}.index", table.field());
    return model.rows_in_cells() && file_.find(all) != nullptr ? all
                                                               : train::index_name(model, table);
  }

  /// How the table's rows are stored: as they are in memory, or as in files from before.
  model::StoredRows stored_rows(const std::string& name, const FieldTable& table,
                                std::uint64_t state_bytes) const {
    const model::RowShape& shape = table.shape();
    const StoredSection* found = file_.find(name);
    model::StoredRows stored;
    stored.halves =
        shape.codec.is_fixed(16) && found != nullptr && found->dtype == Dtype::kU16;
    stored.float_states = state_bytes != shape.state_bytes();
    const std::size_t used = shape.used_bytes(state_bytes);
    const StoredSection& rows =
        section(name, stored.halves ? Dtype::kU16 : row_dtype(table), {kAnyLength, kAnyLength});
    const bool apart = rows.shape[1] == row_elements(table, model::odd_lines(used));
    stored.stride = apart ? model::odd_lines(used) : model::packed(used);
    return stored;
  }

  /// `shape` holds as many floats as `to` has.
  void floats(const std::string& name, const Shape& shape, std::span<float> to) {
    const StoredSection& stored = section(name, Dtype::kF32, shape);
    set_loaded(stored);
    file_.read(stored, reinterpret_cast<std::byte*>(to.data()));
  }

  void verify_the_rest() const {
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      if (!loaded_[i]) file_.verify(file_.sections()[i]);
    }
  }

 private:
  void set_loaded(const StoredSection& stored) {
    loaded_[static_cast<std::size_t>(&stored - file_.sections().data())] = true;
  }

  const store::ModelFile& file_;
  LoadBy by_;
  std::vector<bool> loaded_;  ///< by section
};

void check_row_words(const Model& model) {
  model.for_each_row_word([&](std::uint32_t, std::uint32_t word) {
    using model::RowWord;
    const std::uint32_t field = RowWord::field(word);
    if (field >= std::min<std::size_t>(model.fields().size(), RowWord::kFields) ||
        RowWord::value(word) == RowWord::kBusy ||
        (RowWord::has_row(word) && RowWord::row(word) >= model.fields()[field].rows())) {
      throw std::runtime_error(
          "the model's linear table names a row that no field has; the file is damaged");
    }
  });
}

void load_weights(Model& model, SectionLoader& loader, const Json& tables,
                  std::uint64_t memory_limit) {
  model::LinearTable& linear = model.linear();
  const SlotFormat format = loader.slot_format("linear.slots", linear);
  linear.load(loader.arena("linear.slots", Dtype::kU32, {kAnyLength, linear.slot_words(format)},
                           memory_limit),
              tables.at("linear_shared").get<std::uint64_t>(), format);
  if (!model.group_weights().empty()) {
    loader.floats("groups", {model.group_weights().size() / 2, 2}, model.group_weights());
  }
  const Json& fields = tables.at("fields");
  if (fields.size() != model.fields().size()) {
    throw std::runtime_error("names another number of fields than it has tables");
  }
  const std::size_t own_state_bytes = model.row_shape().state_bytes();
  const auto state_bytes = tables.value("state_bytes", std::uint64_t{sizeof(float)});
  if (state_bytes != own_state_bytes && state_bytes != sizeof(float)) {
    throw std::runtime_error("has accumulators of a size that its spec does not have");
  }
  for (FieldTable& table : model.fields()) {
    const std::string name = fmt::format("ffm.{}.", table.field());
    const Json& json = fields.at(table.field());
    const model::StoredRows rows = loader.stored_rows(name + "rows", table, state_bytes);
    table.load(
        loader.arena(loader.index_name(model, table), Dtype::kU64, {kAnyLength}, memory_limit),
        loader.arena(name + "rows", rows.halves ? Dtype::kU16 : row_dtype(table),
                     {kAnyLength, row_elements(table, rows.stride)}, memory_limit, table.lead()),
        rows, json.at("shared_row").get<model::Row>(), json.at("shared").get<std::uint64_t>());
  }
  check_row_words(model);
  for (std::size_t l = 0; l < model.dense().size(); ++l) {
    Dense& layer = model.dense()[l];
    const std::string name = fmt::format("dense.{}.", l);
    const Shape matrix{layer.outputs, layer.stride()}, vector{layer.outputs};
    loader.floats(name + "weights", matrix, layer.weights);
    loader.floats(name + "bias", vector, layer.bias);
    loader.floats(name + "weights_state", matrix, layer.weights_state);
    loader.floats(name + "bias_state", vector, layer.bias_state);
    if (layer.weights_moment.empty()) continue;
    loader.floats(name + "weights_moment", matrix, layer.weights_moment);
    loader.floats(name + "bias_moment", vector, layer.bias_moment);
  }
}

/// Such a file is made by hand or by another program: ours are not saved.
void refuse_non_finite(const Model& model) {
  if (const std::size_t bad = count_non_finite(model); bad > 0) {
    throw std::runtime_error(fmt::format(
        "{} of its weights are not finite (NaN or infinite), which no prediction survives; go back "
        "to an older model",
        bad));
  }
}

}  // namespace

void save_model(const Model& model, const std::string& path) {
  Json header;
  header["spec"] = model::to_json(model.spec());
  header["namespaces"] = model::to_json(model.features().plans());
  header["state"] = scalars_to_json(model.scalars());
  header["tables"] = tables_to_json(model);
  if (const std::size_t bad = count_non_finite(model); bad > 0) {
    throw std::runtime_error(fmt::format(
        "{}: not saved, {} weights are not finite; lower the learning rates or scale the features",
        path, bad));
  }
  store::write_model_file(path, store::Kind::kModel, header.dump(), sections_of(model));
}

Model load_model(const store::ModelFile& file, std::uint64_t memory_limit, LoadBy by) {
  if (file.kind() != store::Kind::kModel) {
    throw std::runtime_error(file.path() + ": is not a model; `leveret inspect` says what it is");
  }
  try {
    const Json header = Json::parse(file.header_json());
    Model model(model::spec_from_json(header.at("spec")),
                model::plans_from_json(header.at("namespaces")), memory_limit);
    model.scalars() = scalars_from_json(header.at("state"));
    SectionLoader loader(file, by);
    load_weights(model, loader, header.at("tables"), memory_limit);
    loader.verify_the_rest();
    refuse_non_finite(model);
    model.lend_first_rows();
    return model;
  } catch (const std::exception& error) {
    const std::string what = error.what(), prefix = file.path() + ": ";
    throw std::runtime_error(what.starts_with(prefix) ? what : prefix + what);
  }
}

Model load_model(const std::string& path, std::uint64_t memory_limit, LoadBy by) {
  return load_model(store::ModelFile::open(path), memory_limit, by);
}

std::uint64_t default_memory_limit() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
  return std::min(memory, model::address_limit() / 2);
}

}  // namespace leveret::train
