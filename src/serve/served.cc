#include "serve/served.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "model/parser_options.h"
#include "modelfile/model_io.h"
#include "store/patch.h"
#include "text/hash.h"

namespace leveret::serve {
namespace {

namespace fs = std::filesystem;

/// A folder of our own for a file that nobody is to see, gone with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "leveret-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(),
                              path_ + ": cannot make this folder (TMPDIR names another place)");
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file() const { return path_ + "/model.lvt"; }

 private:
  std::string path_;
};

}  // namespace

Served::Served(const store::ModelFile& file)
    : model_(std::make_shared<const model::Model>(
          modelfile::load_model(file, modelfile::default_memory_limit(), model::Use::kPredict))),
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

Place::Place(const std::string& path)
    : file_(store::ModelFile::open(path)), served_(std::make_shared<const Served>(file_)) {}

void Place::put(store::ModelFile file, std::shared_ptr<const Served> served) {
  file_ = std::move(file);
  const std::lock_guard lock(mutex_);
  served_.swap(served);
  time_.fetch_add(1, std::memory_order_release);
}

void Place::replace(const std::string& path) {
  const std::lock_guard lock(changing_);
  store::ModelFile file = store::ModelFile::open(path);
  auto next = std::make_shared<const Served>(file);
  put(std::move(file), std::move(next));
}

void Place::patch(const std::vector<std::string>& patches, const std::string& to) {
  std::vector<store::PatchReader> readers;
  // "-" is a file like any other here.
  for (const std::string& path : patches) readers.emplace_back(path == "-" ? "./-" : path);
  const std::lock_guard lock(changing_);
  std::optional<TemporaryFolder> folder;
  if (to.empty()) folder.emplace();
  const auto result = store::apply_patches(file_, readers, folder ? folder->file() : to, 1);
  // Read before it has its name: a model that cannot be used is not saved.
  store::ModelFile file =
      store::ModelFile::open(result->temporary(), folder ? "the patched model" : to);
  auto next = std::make_shared<const Served>(file);
  if (!to.empty()) result->commit();
  put(std::move(file), std::move(next));
}

}  // namespace leveret::serve
