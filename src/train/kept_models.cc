#include "train/kept_models.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "store/model_file.h"
#include "train/notes.h"

namespace leveret::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelEnd = ".lvt";

bool begins_with(const ChunkLedger& all, const ChunkLedger& first) {
  const auto& a = all.entries();
  const auto& b = first.entries();
  return b.size() <= a.size() && std::equal(b.begin(), b.end(), a.begin());
}

}  // namespace

std::string KeptModels::path_of(const std::string& followed) const {
  return fmt::format("{}/{}{}", folder_, followed, kModelEnd);
}

void KeptModels::make_folder() const {
  if (::mkdir(folder_.c_str(), 0777) == 0) return;
  const int error = errno;
  std::error_code unknown;
  if (error == EEXIST && fs::is_directory(folder_, unknown)) return;
  throw std::runtime_error(fmt::format(
      "{}: cannot make the folder of kept models: {}; {}", folder_, std::strerror(error),
      error == EEXIST ? "move the file of this name away" : "check the path of -f"));
}

/// Of the files of the folder that is followed, the highest first.
std::vector<std::string> KeptModels::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kModelEnd) || name.starts_with('.')) continue;
    name.resize(name.size() - kModelEnd.size());
    names.push_back(std::move(name));
  }
  std::ranges::sort(names, std::greater<>());
  return names;
}

void KeptModels::prune(const std::string& followed, std::size_t keep) const noexcept try {
  for (const std::string& name : names()) {
    if (name > followed) continue;  // of a run that went back: not overtaken yet
    if (keep > 0) {
      --keep;
      continue;
    }
    const std::string path = path_of(name);
    try {
      if (notes_of(store::ModelFile::open(path)).followed == name) ::unlink(path.c_str());
    } catch (const std::exception&) {  // nobody's model
    }
  }
} catch (...) {
}

std::optional<std::string> KeptModels::newest_without(
    const ChunkLedger& learned, const std::vector<ChunkHash>& unwanted) const {
  for (const std::string& name : names()) {
    const std::string path = path_of(name);
    try {
      const ChunkLedger chunks = notes_of(store::ModelFile::open(path)).chunks;
      const auto has = [&](const ChunkHash& chunk) { return chunks.has(chunk); };
      if (begins_with(learned, chunks) && std::ranges::none_of(unwanted, has)) return path;
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

}  // namespace leveret::train
