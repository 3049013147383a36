#include "cli/learn/followed_chunks.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/learn/learned_chunks.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

bool FollowedChunks::wants(std::uint32_t, const std::string& path) {
  if (again_ || !train::find_learned(learned_, path)) return true;
  say_passed_over(path);
  return false;
}

void FollowedChunks::late(const std::string& path, const std::string& last) {
  say(
      fmt::format("{}: came behind {}, which is read already, and is not learned: names have to "
                  "rise; give it a higher one",
                  stream::escaped(path), stream::escaped(last)));
}

void FollowedChunks::before(std::uint64_t count, const std::string& last) {
  say(
      fmt::format("{} file{} of the folder {} not behind {}, the last one that was learned: passed "
                  "over",
                  count, count == 1 ? "" : "s", count == 1 ? "is" : "are", stream::escaped(last)));
}

}  // namespace leveret::cli
