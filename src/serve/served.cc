#include "serve/served.h"

#include "model/parser_options.h"
#include "modelfile/model_io.h"
#include "text/hash.h"

namespace leveret::serve {

Served::Served(const std::string& path)
    : model_(std::make_shared<const model::Model>(
          modelfile::load_model(path, modelfile::default_memory_limit(), model::Use::kPredict))),
      parser_(model::parser_options(model_->spec())) {
  model_->features().close_names(names_);
  for (std::uint32_t id = 0; id < names_.size() && !names_.is_shared(id); ++id) {
    name_of_hash_.emplace(hash_of_name(names_.name(id)), id);
  }
  find_spaces_of_fields();
}

void Served::find_spaces_of_fields() {
  std::vector<bool> found(fields());
  space_of_field_.resize(fields());
  const auto put = [&](std::uint32_t field, const std::string& space) {
    if (!found[field]) space_of_field_[field] = {*names_.intern(space), hash_of_name(space)};
    found[field] = true;
  };
  const std::vector<feature::NamespacePlan>& plans = model_->features().plans();
  for (const feature::NamespacePlan& plan : plans) {
    if (!plan.fields.empty()) put(plan.fields[0], plan.name);
  }
  for (const feature::NamespacePlan& plan : plans) {
    for (const std::uint32_t field : plan.fields) put(field, plan.name);
  }
  // Declared, and never met.
  const auto& declared = model_->spec().features.fields;
  for (std::uint32_t field = 0; field < declared.size(); ++field) put(field, declared[field][0]);
}

Space Served::space_of_hash(std::uint32_t hash) const {
  const auto found = name_of_hash_.find(hash);
  return {found != name_of_hash_.end() ? found->second : names_.shared(0), hash};
}

std::uint32_t Served::hash_of_name(std::string_view name) const {
  return text::hash_namespace(name, parser_.hash_seed, parser_.hash);
}

}  // namespace leveret::serve
