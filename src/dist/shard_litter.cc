#include "dist/shard_litter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "files/stale_files.h"

namespace leveret::dist {
namespace {

namespace fs = std::filesystem;

/// Takes digits away, of which there is one at least.
bool skip_number(std::string_view& name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(digits);
  return digits > 0;
}

bool skip(std::string_view& name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  name.remove_prefix(word.size());
  return true;
}

/// G.frame.lvt or G.shard-K.lvt
bool is_of_a_save(std::string_view name) {
  if (!skip_number(name) || !skip(name, ".")) return false;
  if (!skip(name, "frame") && !(skip(name, "shard-") && skip_number(name))) return false;
  return name == ".lvt";
}

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
