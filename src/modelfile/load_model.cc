#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "modelfile/hashed_io.h"
#include "modelfile/header.h"
#include "modelfile/model_io.h"
#include "modelfile/parameters_io.h"
#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "modelfile/sightings_io.h"
#include "modelfile/tables_io.h"
#include "net/make_blocks.h"
#include "schema/schema.h"
#include "spec/config.h"
#include "spec/json.h"
#include "table/machine_memory.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using model::Model;

/// Refuses a spec that asks for more than the file can hold, before there is memory for it.
/// `most`: numbers that it has at most. A hashed table of which the file has the touched slots
/// alone may be larger: see check_hashed.
void check_size(const spec::Spec& spec, const std::vector<feature::NamespacePlan>& plans,
                const Json& header, const SectionLoader& sections, std::uint64_t most) {
  const std::uint32_t fields = feature::FeatureMap(spec.map_options(), plans).field_count();
  if (spec.has_rows() && header.at("shards").size() != std::uint64_t{fields} + 1) {
    throw std::runtime_error("names another number of fields than it has shards");
  }
  const auto fits = [&](std::uint64_t numbers) {
    if (numbers > most) damaged("is smaller than what its spec asks for");
  };
  if (spec.bit_precision > 0 && !sections.has(kSlotKeys)) {
    fits(std::uint64_t{1} << spec.bit_precision);
  }
  const tape::Declarations declared = net::declare_all(spec::config_of(spec), {fields});
  std::uint64_t numbers = 0;  // of all arrays, which the file has side by side
  for (const tape::LearnedArray& array : declared.arrays) {
    if (array.kind == table::Learned::kParameter) numbers += array.rows() * array.columns();
  }
  fits(numbers);
  std::uint64_t bytes = 0;  // of one example
  for (const tape::Tensor& tensor : declared.tensors) bytes += tensor.stride() * sizeof(float);
  if (bytes > default_memory_limit()) {
    throw std::runtime_error(
        fmt::format("needs {} bytes for an example, which this machine does not have", bytes));
  }
}

/// Refuses a hashed table for which the machine has no memory: pages come as slots are touched, and
/// a small file may touch each.
void check_hashed(const table::HashedCells& cells, std::uint64_t memory_limit) {
  const std::uint64_t bytes = cells.capacity() * cells.stride();
  const std::uint64_t most = std::max(memory_limit, default_memory_limit());
  if (bytes <= most) return;
  throw std::runtime_error(fmt::format(
      "has a table of -b that may take {} bytes of memory, of which {} are allowed; --max_memory "
      "allows more",
      bytes, most));
}

/// Whether an export may lack features that its model knows.
bool leaves_out_features(const Json& header, const spec::Spec& spec) {
  return spec.bit_precision > 0 || header.at("export").at("min_count").get<std::uint64_t>() > 0;
}

}  // namespace

void load_parameters(tape::Parameters& parameters, SectionLoader& sections) {
  parameters.for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    const tape::LearnedArray& array = values.array;
    const store::Role role = role_of(array.kind);
    if (!sections.wants(role)) return;
    const auto copy_pieces = [&](auto next) {
      for (std::size_t i = 0; i < values.pieces(); ++i) {
        std::memcpy(values.first + i * values.step, next().data(), values.piece * sizeof(T));
      }
    };
    if constexpr (dtype_of<T>() == store::Dtype::kF32) {
      SectionLoader::Numbers numbers(sections, array.name, array.shape, declared(role));
      // A piece is a row of a matrix, or numbers that are a row each.
      const std::uint64_t rows = array.shape.size() > 1 ? 1 : values.piece;
      copy_pieces([&] { return numbers.next(rows); });
      numbers.finish();
    } else {
      SectionLoader::Stream stream(
          sections, sections.section(array.name, dtype_of<T>(), array.shape, declared(role)));
      copy_pieces([&] { return stream.next(values.piece * sizeof(T)); });
      stream.finish();
    }
  });
  const tape::Scalars& scalars = parameters.scalars;
  if (!(scalars.clicks > 0 && scalars.clicks < scalars.count)) {
    damaged("has an impossible base rate");
  }
}

Model load_model(const store::ModelFile& file, std::uint64_t memory_limit, model::Use use,
                 LoadBy by) {
  const bool is_export = file.kind() == store::Kind::kExport;
  if (is_export && use == model::Use::kLearn) {
    throw std::runtime_error(file.path() +
                             ": is an export, without what learning needs; continue from the model "
                             "that it was made from");
  }
  if (!is_export && file.kind() != store::Kind::kModel) {
    throw std::runtime_error(file.path() + ": is not a model; `leveret inspect` says what it is");
  }
  try {
    const Json header = Json::parse(file.header_json());
    spec::Spec spec = spec::spec_from_json(header.at("spec"));
    std::vector<feature::NamespacePlan> plans = spec::plans_from_json(header.at("namespaces"));
    SectionLoader sections(file, use);
    // An export has two of 4 bits in a byte.
    check_size(spec, plans, header, sections,
               is_export ? 2 * file.bytes() : file.bytes() / sizeof(float));
    Model model(std::move(spec), std::move(plans), memory_limit, use, sections.row_codecs());
    read_identity(header, model.spec(), model.parameters().scalars);
    if (header.contains("plan")) {
      model.set_plan(header["plan"].get<std::vector<std::uint64_t>>());
    }
    read_schema(header, model);
    if (model.tables().hashed() != nullptr) check_hashed(*model.tables().hashed(), memory_limit);
    load_tables(model.tables(), sections, header.at("shards"), by);
    load_parameters(model.parameters(), sections);
    load_sightings(model, sections, is_export && leaves_out_features(header, model.spec()));
    sections.finish();
    return model;
  } catch (const std::exception& error) {
    const std::string what = header_error(error), prefix = file.path() + ": ";
    throw std::runtime_error(what.starts_with(prefix) ? what : prefix + what);
  }
}

Model load_model(const std::string& path, std::uint64_t memory_limit, model::Use use, LoadBy by) {
  return load_model(store::ModelFile::open(path), memory_limit, use, by);
}

std::uint64_t default_memory_limit() {
  return std::min(table::machine_memory() / 4 * 3, table::address_limit() / 2);
}

}  // namespace leveret::modelfile
