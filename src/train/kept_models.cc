#include "train/kept_models.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "files/atomic_file.h"
#include "modelfile/model_line.h"
#include "store/model_file.h"
#include "train/notes.h"

namespace leveret::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelEnd = ".lvt", kBegin = "begin";

bool begins_with(const ChunkLedger& all, const ChunkLedger& first) {
  const auto& a = all.entries();
  const auto& b = first.entries();
  return b.size() <= a.size() && std::equal(b.begin(), b.end(), a.begin());
}

bool has_any(const ChunkLedger& of, const ChunkLedger& chunks) {
  return std::ranges::any_of(chunks.entries(),
                             [&](const ChunkLedger::Entry& entry) { return of.has_entry(entry); });
}

modelfile::ModelPlace place_of(const std::string& model) {
  return modelfile::place_of(store::ModelFile::open(model));
}

/// A model that was saved behind the file `followed`, and is of this line; nothing where the file
/// is another one, or cannot be read.
std::optional<store::ModelFile> open_kept(const std::string& path, const std::string& followed,
                                          const modelfile::ModelPlace& among) try {
  store::ModelFile file = store::ModelFile::open(path);
  if (modelfile::place_of(file).line != among.line || followed_of(file) != followed) {
    return std::nullopt;
  }
  return file;
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace

std::string KeptModels::path_of(const std::string& followed) const {
  return followed.empty() ? fmt::format("{}/{}", folder_, kBegin)
                          : fmt::format("{}/{}{}", folder_, followed, kModelEnd);
}

bool KeptModels::has(const std::string& followed) const {
  return ::access(path_of(followed).c_str(), F_OK) == 0;
}

int KeptModels::begin_with(const std::string& file) const {
  if (file.empty()) return ::unlink(path_of("").c_str()) == 0 || errno == ENOENT ? 0 : errno;
  const std::string name = path_of(followed_of(store::ModelFile::open(file)));
  std::error_code unknown;
  if (fs::equivalent(file, name, unknown) && !unknown) return 0;
  return files::link_over(fs::canonical(file).string(), name);  // not a symbolic link itself
}

/// The files of the folder that is followed, the highest first; "" for none.
std::vector<std::string> KeptModels::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name == kBegin) names.emplace_back();
    if (!name.ends_with(kModelEnd) || name.starts_with('.')) continue;
    name.resize(name.size() - kModelEnd.size());
    names.push_back(std::move(name));
  }
  std::ranges::sort(names, std::greater<>());
  return names;
}

void KeptModels::prune(const std::string& followed, std::size_t keep) const noexcept try {
  const modelfile::ModelPlace among = place_of(model_);
  for (const std::string& name : names()) {
    if (name > followed) continue;  // of a run that went back: not overtaken yet
    if (!open_kept(path_of(name), name, among)) continue;
    if (keep > 0) {
      --keep;
    } else {
      ::unlink(path_of(name).c_str());
    }
  }
} catch (...) {
}

std::optional<KeptModels::Kept> KeptModels::newest_before(const std::string& name,
                                                          const std::string& model,
                                                          const ChunkLedger& learned,
                                                          const ChunkLedger& unwanted) const {
  const modelfile::ModelPlace among = place_of(model);
  for (const std::string& followed : names()) {
    if (followed >= name) continue;
    const auto file = open_kept(path_of(followed), followed, among);
    if (!file) continue;
    const ChunkLedger chunks = notes_of(*file).chunks;
    if (!begins_with(learned, chunks) || has_any(chunks, unwanted)) continue;
    return Kept{path_of(followed), followed, chunks.entries().size()};
  }
  return std::nullopt;
}

}  // namespace leveret::train
