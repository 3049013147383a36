#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/spec_json.h"
#include "modelfile/finite.h"
#include "modelfile/model_io.h"
#include "modelfile/scalars_json.h"
#include "modelfile/section_names.h"
#include "modelfile/tables_io.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Dtype;
using store::SectionView;

using Shape = std::vector<std::uint64_t>;

void add_dense(std::vector<SectionView>& sections, const block::Dense& layer, std::size_t index) {
  const auto add = [&](const char* what, Shape shape, std::span<const float> values) {
    if (values.empty()) return;
    sections.push_back(
        store::make_section<float>(dense_name(index, what), Dtype::kF32, std::move(shape), values));
  };
  add("weights", {layer.outputs, layer.stride()}, layer.weights);
  add("bias", {layer.outputs}, layer.bias);
  add("weights_state", {layer.outputs, layer.stride()}, layer.weights_state);
  add("bias_state", {layer.outputs}, layer.bias_state);
  add("weights_moment", {layer.outputs, layer.stride()}, layer.weights_moment);
  add("bias_moment", {layer.outputs}, layer.bias_moment);
}

}  // namespace

void save_model(const model::Model& model, const std::string& path) {
  if (const std::size_t bad = count_non_finite(model); bad > 0) {
    throw std::runtime_error(fmt::format(
        "{}: not saved, {} weights are not finite; lower the learning rates or scale the features",
        path, bad));
  }
  const block::Parameters& parameters = model.parameters();
  std::vector<SectionView> sections;
  Json header;
  header["spec"] = model::to_json(model.spec());
  header["namespaces"] = model::to_json(model.features().plans());
  header["state"] = to_json(parameters.scalars);
  header["shards"] = add_tables(sections, model.tables());
  const std::vector<float>& groups = parameters.group_weights;
  if (!groups.empty()) {
    sections.push_back(
        store::make_section<float>("groups", Dtype::kF32, {groups.size() / 2, 2}, groups));
  }
  for (std::size_t l = 0; l < parameters.layers.size(); ++l) {
    add_dense(sections, parameters.layers[l], l);
  }
  store::write_model_file(path, store::Kind::kModel, header.dump(), sections);
}

}  // namespace leveret::modelfile
