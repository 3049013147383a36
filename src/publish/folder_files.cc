#include "publish/folder_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "files/file_calls.h"
#include "files/stale_files.h"
#include "publish/manifest.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;

/// The step of which a file is that has this name; 0: it is of none.
std::uint64_t step_of(std::string_view name) {
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const std::string_view rest = name.substr(static_cast<std::size_t>(end - name.data()));
  const bool is_named =
      error == std::errc() && name[0] != '0' && (rest == ".lvt" || rest == ".patch");
  return is_named ? step : 0;
}

bool is_beside(std::string_view name) { return name == kCandidate || name == kBase; }

bool is_ours(std::string_view name) {
  return step_of(name) > 0 || is_beside(name) || name == Manifest::kName;
}

}  // namespace

std::string full_name(std::uint64_t step) { return std::to_string(step) + ".lvt"; }
std::string patch_name(std::uint64_t step) { return std::to_string(step) + ".patch"; }

std::string name_of_other(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name == "lost+found") continue;  // of a disk that is mounted there
    if (name[0] != '.' || is_beside(name)) return name;
  }
  return {};
}

void remove_litter(const std::string& folder, const std::vector<std::string>& kept,
                   std::uint64_t last) noexcept try {
  std::vector<std::string> gone;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::uint64_t step = step_of(name);
    const bool is_left = step > 0 && step <= last && std::ranges::find(kept, name) == kept.end();
    if (is_left || is_beside(name)) gone.push_back(name);
  }
  files::remove_stale_files_in(folder, is_ours);
  for (const std::string& name : gone) files::file_calls().unlink((folder + '/' + name).c_str());
} catch (...) {
}

}  // namespace leveret::publish
