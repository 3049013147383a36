#include "cli/learn/followed_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/console.h"
#include "cli/learn/learned_chunks.h"
#include "files/file_state.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

bool FollowedChunks::wants(std::uint32_t source, const std::string& path) {
  // It is looked at before it is read, so that a change in between is seen.
  const std::optional<files::FileState> state = files::state_of(path);
  if (is_unwanted(path)) {
    say(fmt::format("{}: passed over, as --without names it or a file with the same bytes",
                    stream::escaped(path)));
    return false;
  }
  if (!again_) {
    const train::LedgerFind found = train::find_learned(learned_, path);
    if (found.learned) {
      say_passed_over(path);
      return false;
    }
    if (found.begins_with > 0) say_grown(path, found.begins_with);
  }
  watch_.begins(source, path, state);
  return true;
}

void FollowedChunks::late(const std::string& path, const std::string& last) {
  say(fmt::format(
      "warning: {0}: not learned, as {1} has been read already; rename it so that its name sorts "
      "after {1}",
      stream::escaped(path), stream::escaped(last)));
}

/// By its name, or, unless --again wants what comes again, by what is in it: it may have come
/// twice.
bool FollowedChunks::is_unwanted(const std::string& path) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  return std::ranges::find(without_, name) != without_.end() ||
         (!again_ && train::find_learned(unwanted_, path).learned);
}

/// Files are read for this only where something tells that they may not be: a folder has all of a
/// year.
bool FollowedChunks::is_as_learned(const std::string& path) const {
  const std::optional<files::FileState> state = files::state_of(path);
  if (!state || state->bytes == 0) return true;
  const bool is_packed = path.ends_with(".gz") || path.ends_with(".zst");
  const bool may_be =
      state->changed < saved_ && (is_packed || learned_.may_have_bytes(state->bytes));
  return may_be || train::find_learned(learned_, path).learned;
}

void FollowedChunks::before(const std::vector<std::string>& paths, const std::string& last) {
  say(fmt::format(
      "{} file{} passed over, with names up to {}, the last one that the model has learned",
      paths.size(), paths.size() == 1 ? "" : "s", stream::escaped(last)));
  constexpr std::size_t kTold = 8;
  std::size_t others = 0;
  for (const std::string& path : paths) {
    if (is_as_learned(path) || is_unwanted(path) || ++others > kTold) continue;
    say(fmt::format(
        "warning: {}: not learned in its present form: it came late, or has changed since it was "
        "read; give new lines a file whose name sorts after {}",
        stream::escaped(path), stream::escaped(last)));
  }
  if (others > kTold) say(fmt::format("warning: and {} files more like it", others - kTold));
}

}  // namespace leveret::cli
