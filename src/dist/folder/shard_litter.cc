#include "dist/folder/shard_litter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "dist/folder/shard_names.h"
#include "files/stale_files.h"

namespace leveret::dist {
namespace {

namespace fs = std::filesystem;

/// The name that a temporary file was to get; empty: it is none.
std::string_view name_of_temporary(std::string_view name) {
  static const std::string mark = files::temporary_prefix("x").substr(2);  // behind ".x"
  const std::size_t at = name.find(mark);
  return at == std::string_view::npos || name[0] != '.' ? "" : name.substr(1, at - 1);
}

}  // namespace

void remove_litter(const std::string& folder, const std::vector<ShardFolder::File>& kept) noexcept
    try {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (const std::string_view whole = name_of_temporary(name); is_of_a_save(whole)) {
      files::remove_stale_files(folder + '/' + std::string(whole));
      continue;
    }
    const bool is_kept =
        std::ranges::any_of(kept, [&](const ShardFolder::File& file) { return file.name == name; });
    if (is_of_a_save(name) && !is_kept) unlink(it->path().c_str());
  }
} catch (...) {
}

}  // namespace leveret::dist
