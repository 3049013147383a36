#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/spec_json.h"
#include "modelfile/finite.h"
#include "modelfile/model_io.h"
#include "modelfile/scalars_json.h"
#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using model::Model;

void load_parameters(block::Parameters& parameters, SectionLoader& sections) {
  std::vector<float>& groups = parameters.group_weights;
  if (!groups.empty()) sections.floats("groups", {groups.size() / 2, 2}, groups);
  for (std::size_t l = 0; l < parameters.layers.size(); ++l) {
    block::Dense& layer = parameters.layers[l];
    const Shape matrix{layer.outputs, layer.stride()}, vector{layer.outputs};
    const auto load = [&](const char* what, const Shape& shape, std::span<float> to) {
      if (!to.empty()) sections.floats(dense_name(l, what), shape, to);
    };
    load("weights", matrix, layer.weights);
    load("bias", vector, layer.bias);
    load("weights_state", matrix, layer.weights_state);
    load("bias_state", vector, layer.bias_state);
    load("weights_moment", matrix, layer.weights_moment);
    load("bias_moment", vector, layer.bias_moment);
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

Model load_model(const store::ModelFile& file, std::uint64_t memory_limit, model::Use use,
                 LoadBy by) {
  if (file.kind() != store::Kind::kModel) {
    throw std::runtime_error(file.path() + ": is not a model; `leveret inspect` says what it is");
  }
  try {
    const Json header = Json::parse(file.header_json());
    Model model(model::spec_from_json(header.at("spec")),
                model::plans_from_json(header.at("namespaces")), memory_limit, use);
    model.parameters().scalars = scalars_from_json(header.at("state"));
    SectionLoader sections(file);
    load_tables(model.tables(), sections, header.at("shards"), by);
    load_parameters(model.parameters(), sections);
    sections.verify_the_rest();
    refuse_non_finite(model);
    return model;
  } catch (const std::exception& error) {
    const std::string what = error.what(), prefix = file.path() + ": ";
    throw std::runtime_error(what.starts_with(prefix) ? what : prefix + what);
  }
}

Model load_model(const std::string& path, std::uint64_t memory_limit, model::Use use, LoadBy by) {
  return load_model(store::ModelFile::open(path), memory_limit, use, by);
}

std::uint64_t default_memory_limit() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
  return std::min(memory, table::address_limit() / 2);
}

}  // namespace leveret::modelfile
