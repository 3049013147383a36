#include "dist/folder/shard_litter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "dist/folder/shard_names.h"
#include "files/stale_files.h"

namespace leveret::dist {

namespace fs = std::filesystem;

void remove_litter(const std::string& folder, const std::vector<ShardFolder::File>& kept) noexcept
    try {
  files::remove_stale_files_in(folder, is_of_a_save);
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_kept =
        std::ranges::any_of(kept, [&](const ShardFolder::File& file) { return file.name == name; });
    if (is_of_a_save(name) && !is_kept) unlink(it->path().c_str());
  }
} catch (...) {
}

}  // namespace leveret::dist
