#include "serve/served.h"

#include <stdlib.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "files/unnamed_file.h"
#include "model/parser_options.h"
#include "modelfile/model_io.h"
#include "patch/patch.h"
#include "store/content.h"
#include "text/hash.h"

namespace leveret::serve {
namespace {

/// Where models lie that nobody has named.
files::UnnamedFile::Place temporary_place() {
  const char* const named = ::secure_getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  const std::string folder = is_named ? named : "/tmp";
  return {folder, folder + (is_named ? " (TMPDIR)" : " (TMPDIR is not set)"),
          "let TMPDIR name a folder that may be written to and has room for the model"};
}

}  // namespace

Served::Served(std::shared_ptr<const model::Model> model)
    : model_(std::move(model)),
      parser_(model::parser_options(model_->spec(), model_->features().plans())) {
  close_names();
}

std::shared_ptr<const Served> Served::nothing() {
  auto served = std::make_shared<Served>(
      std::make_shared<const model::Model>(spec::Spec(), modelfile::default_memory_limit()));
  served->is_nothing_ = true;
  return served;
}

Served::Served(const store::ModelFile& file)
    : Served(std::make_shared<const model::Model>(
          modelfile::load_model(file, modelfile::default_memory_limit(), model::Use::kPredict))) {
  fingerprint_ = file.fingerprint();
  sequence_ = modelfile::place_of(file).sequence;
}

void Served::close_names() {
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

Place::Place(const std::string& path)
    : file_(store::ModelFile::open(path)), served_(std::make_shared<const Served>(*file_)) {}

void Place::put(store::ModelFile file) {
  auto next = std::make_shared<const Served>(file);
  put(std::move(file), std::move(next));
}

void Place::put(store::ModelFile file, std::shared_ptr<const Served> served) {
  if (admit_) admit_(*served);
  file_ = std::move(file);
  const std::lock_guard lock(mutex_);
  served_.swap(served);
  time_.fetch_add(1, std::memory_order_release);
}

void Place::replace(const std::string& path, const std::vector<std::string>& patches) {
  const std::lock_guard lock(changing_);
  store::ModelFile file = store::ModelFile::open(path);
  if (patches.empty()) return put(std::move(file));
  patch::PatchChain chain(patches);
  put(store::ModelFile::open(patch::apply_patches(file, chain, temporary_place(), 1),
                             "the patched model"));
}

void Place::patch(std::vector<std::string> patches, const std::string& to) {
  // "-" is a file like any other here.
  std::ranges::replace(patches, "-", "./-");
  patch::PatchChain chain(patches);
  const std::lock_guard lock(changing_);
  if (!file_) throw std::runtime_error("there is no model yet that could be patched");
  if (to.empty()) {
    return put(store::ModelFile::open(patch::apply_patches(*file_, chain, temporary_place(), 1),
                                      "the patched model"));
  }
  const bool is_export = file_->kind() == store::Kind::kExport;
  store::check_may_replace(is_export ? store::Content::kExport : store::Content::kModel, to);
  const auto result = patch::apply_patches(*file_, chain, to, 1);
  // Read before it has its name: a model that cannot be used is not saved.
  store::ModelFile file = store::ModelFile::open(result->temporary(), to);
  auto next = std::make_shared<const Served>(file);
  result->commit();
  put(std::move(file), std::move(next));
}

}  // namespace leveret::serve
