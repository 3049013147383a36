#include "dist/folder/shard_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dist/folder/manifest.h"
#include "dist/folder/shard_litter.h"
#include "dist/folder/shard_sections.h"
#include "dist/talk/agreement.h"
#include "files/atomic_file.h"
#include "modelfile/header.h"
#include "spec/json.h"
#include "store/model_file.h"

namespace leveret::dist {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "/manifest.json";

std::string file_name(std::uint64_t generation, const std::string& what) {
  return fmt::format("{}.{}.lvt", generation, what);
}
std::string shard_name(std::uint64_t generation, std::uint32_t shard) {
  return file_name(generation, fmt::format("shard-{}", shard));
}

/// Whether it was not there before.
bool make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0777) == 0) return true;
  const int error = errno;
  if (error == EEXIST && ShardFolder::is_folder(folder)) return false;
  throw std::runtime_error(
      fmt::format("{}: cannot make the folder of shards: {}{}", folder, std::strerror(error),
                  error == EEXIST                       ? "; -f names a folder, and a file is there"
                  : error == ENOENT || error == ENOTDIR ? "; make the folder that it is to be in"
                                                        : ""));
}

/// The model that is in the folder, if there is one.
std::optional<ShardFolder> model_in(const std::string& folder) {
  if (!ShardFolder::has_model(folder)) return std::nullopt;
  return ShardFolder(folder);
}

std::uint64_t generation_after(const std::optional<ShardFolder>& before) {
  return before ? before->generation() + 1 : 1;
}

/// Rank 0's, to all.
std::uint64_t generation_for_all(Communicator& ranks,
                                 const std::function<std::uint64_t()>& generation) {
  return std::stoull(from_root(
      ranks, [&] { return std::to_string(generation()); }, [](std::exception_ptr) { return 1; }));
}

/// Makes the folder, and removes what saves that were killed have left: their space may be needed.
std::uint64_t begin_save(const std::string& folder) {
  make_folder(folder);
  const std::optional<ShardFolder> before = model_in(folder);
  remove_litter(folder, before ? before->files() : std::vector<ShardFolder::File>());
  return generation_after(before);
}

/// Those of the save before, which nothing names any more. Where that fails the next save does it.
void remove_older(const std::string& folder) noexcept try {
  remove_litter(folder, ShardFolder(folder).files());
} catch (...) {
}

/// Whether the manifest that is there is of this generation.
bool is_saved(const std::string& folder, std::uint64_t generation) {
  try {
    return ShardFolder::has_model(folder) && ShardFolder(folder).generation() == generation;
  } catch (const std::exception&) {
    return true;  // who knows
  }
}

std::string fingerprint_of(const std::string& path) {
  return store::to_hex(store::ModelFile::open(path).fingerprint());
}

/// This rank's files, as the manifest has them: a line of name and fingerprint each.
class Saver {
 public:
  Saver(const ShardedModel& model, const std::string& folder, std::uint64_t generation)
      : model_(model), folder_(folder), generation_(generation) {}

  void save_frame() {
    const std::string name = file_name(generation_, "frame");
    write_frame(model_.frame(), model_.plan(), add(name));
    note(name);
  }
  void save_parts() {
    for (std::size_t i = 0; i < model_.size(); ++i) {
      const std::string name = shard_name(generation_, model_[i].number());
      write_part(model_[i], model_.plan(), add(name));
      note(name);
    }
  }
  const std::string& lines() const { return lines_; }
  void remove() const {
    for (const std::string& path : written_) unlink(path.c_str());
  }

 private:
  const std::string& add(const std::string& name) {
    return written_.emplace_back(folder_ + '/' + name);
  }
  void note(const std::string& name) {
    lines_ += name + ' ' + fingerprint_of(written_.back()) + '\n';
  }

  const ShardedModel& model_;
  const std::string& folder_;
  const std::uint64_t generation_;
  std::vector<std::string> written_;
  std::string lines_;
};

/// Ranks have their shards in order, so their lines are in the order of the shards.
void write_manifest(const std::string& folder, std::uint64_t generation,
                    const std::optional<train::InputPosition>& position,
                    const std::vector<Bytes>& of_ranks) {
  Manifest manifest = {generation, position, {}};
  for (const Bytes& lines : of_ranks) {
    std::istringstream stream(lines);
    for (ManifestFile file; stream >> file.name >> file.fingerprint;) {
      manifest.files.push_back(file);
    }
  }
  files::AtomicFile file(folder + kManifest);
  const std::string text = to_text(manifest);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string read_manifest(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
    throw std::runtime_error(path + ": is no regular file, as a manifest of leveret-mpi is");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw std::runtime_error(fmt::format("{}: {}; a folder of leveret-mpi has a manifest.json",
                                         path, std::strerror(errno)));
  }
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) throw std::runtime_error(path + ": cannot read; check the disk");
  return text;
}

/// The model that learning goes on with.
spec::Spec spec_of(const store::ModelFile& frame) {
  try {
    return spec::spec_from_json(Json::parse(frame.header_json()).at("spec"));
  } catch (const Json::exception&) {
    throw std::runtime_error(frame.path() + ": is not the frame of a folder of shards");
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(frame.path() + ": " + error.what());
  }
}

}  // namespace

void save_shards(const ShardedModel& model, Communicator& ranks, const std::string& folder,
                 const std::optional<train::InputPosition>& position) {
  const std::uint64_t generation = generation_for_all(ranks, [&] { return begin_save(folder); });
  Saver saver(model, folder, generation);
  try {
    together(ranks, [&] {
      make_folder(folder);  // on each machine, where the folder is not shared
      if (ranks.is_root()) saver.save_frame();
      saver.save_parts();
    });
    const std::vector<Bytes> lines = ranks.gather(saver.lines());
    together(ranks, [&] {
      if (ranks.is_root()) write_manifest(folder, generation, position, lines);
    });
  } catch (...) {
    if (!is_saved(folder, generation)) saver.remove();
    throw;
  }
  if (ranks.is_root()) remove_older(folder);
}

/// Rank 0 tries first: where all have one folder, as they should, one of them says what is wrong.
void try_save_shards(Communicator& ranks, const std::string& folder, std::uint32_t first) {
  bool is_new = false;
  const auto try_shard = [&](std::uint64_t generation) {
    files::try_save(folder + '/' + shard_name(generation, first));
  };
  // All ranks are through with the folder when any comes here.
  const auto remove = [&] {
    if (is_new) rmdir(folder.c_str());
  };
  try {
    const std::uint64_t generation = generation_for_all(ranks, [&] {
      is_new = make_folder(folder);
      const std::uint64_t next = generation_after(model_in(folder));
      files::try_save(folder + kManifest);
      try_shard(next);
      return next;
    });
    together(ranks, [&] {
      if (ranks.is_root()) return;
      is_new = make_folder(folder);  // on its machine, where the folder is not shared
      try_shard(generation);
    });
  } catch (...) {
    remove();
    throw;
  }
  remove();
}

bool ShardFolder::is_folder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool ShardFolder::has_model(const std::string& path) {
  return access((path + kManifest).c_str(), F_OK) == 0;
}

ShardFolder::ShardFolder(std::string folder) : folder_(std::move(folder)) {
  const std::string path = folder_ + kManifest;
  const std::string text = read_manifest(path);
  try {
    Manifest manifest = manifest_from_text(text);
    generation_ = manifest.generation;
    files_ = std::move(manifest.files);
    position_ = std::move(manifest.position);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  spec_ = spec_of(open(0));
}

store::ModelFile ShardFolder::open(std::size_t number) const {
  const std::string path = folder_ + '/' + files_[number].name;
  store::ModelFile file = store::ModelFile::open(path);
  if (store::to_hex(file.fingerprint()) != files_[number].fingerprint) {
    throw std::runtime_error(path +
                             ": is not the file that manifest.json means, but another save's");
  }
  return file;
}

std::unique_ptr<ShardedModel> ShardFolder::load(const spec::Spec& spec, std::uint32_t first,
                                                std::uint32_t count, std::uint64_t memory_limit,
                                                const kernels::Kernels& kernels) const {
  auto model = std::make_unique<ShardedModel>(spec, shards(), first, count, memory_limit, kernels);
  read_frame(open(0), *model);
  for (std::uint32_t i = 0; i < count; ++i) read_part(open(1 + first + i), (*model)[i]);
  return model;
}

}  // namespace leveret::dist
