#include "publish/folder_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "files/file_calls.h"
#include "files/stale_files.h"
#include "publish/manifest.h"

namespace leveret::publish {
namespace {

namespace fs = std::filesystem;

bool is_ours(std::string_view name) {
  return is_of_a_step(name) || name == kCandidate || name == kBase || name == Manifest::kName;
}

}  // namespace

std::string full_name(std::uint64_t step) { return std::to_string(step) + ".lvt"; }
std::string patch_name(std::uint64_t step) { return std::to_string(step) + ".patch"; }

bool is_of_a_step(std::string_view name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(digits);
  return digits > 0 && (name == ".lvt" || name == ".patch");
}

void remove_litter(const std::string& folder, const std::vector<std::string>& kept) noexcept try {
  std::vector<std::string> gone;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == kCandidate || name == kBase) {
      gone.push_back(name);
    } else if (is_of_a_step(name) && std::ranges::find(kept, name) == kept.end()) {
      gone.push_back(name);
    }
  }
  files::remove_stale_files_in(folder, is_ours);
  for (const std::string& name : gone) files::file_calls().unlink((folder + '/' + name).c_str());
} catch (...) {
}

}  // namespace leveret::publish
