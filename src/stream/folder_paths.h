/// The files of a folder that fills, in the order of their names.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "stream/source_events.h"
#include "stream/stop_flag.h"

namespace leveret::stream {

/// A name that begins with a point, or ends in .tmp or .part, is none yet: who fills the folder
/// writes under such a name and renames the file when it is whole.
bool is_followed(std::string_view name);

/// What is no regular file is passed over, and what is_followed() is false of. Names are compared
/// byte by byte. One thread.
class FolderPaths {
 public:
  /// Gives names behind `after` (empty: all). `events` and `stop` outlive it. std::runtime_error
  /// when the folder cannot be read.
  FolderPaths(std::string folder, std::string after, SourceEvents* events, const StopFlag& stop);

  /// The path of the file with the lowest name behind the last one, waiting until there is one;
  /// nothing when stopped. std::runtime_error when the folder cannot be read any more.
  std::optional<std::string> next();

 private:
  bool is_unchanged();
  void look();
  std::string path_of(const std::string& name) const { return folder_ + '/' + name; }

  const std::string folder_;
  std::string last_;  ///< that was given
  SourceEvents* const events_;
  const StopFlag& stop_;
  std::set<std::string> waiting_;  ///< behind last_
  std::set<std::string> met_;      ///< names that are not behind it, of which something was told
  bool has_looked_ = false;
  timespec changed_ =
      {};  ///< when the folder had last been, where it was looked at well after that
};

}  // namespace leveret::stream
