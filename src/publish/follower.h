/// The next steps to serve what a folder of `leveret publish` (leveret-publish(5)) has newest.
///
///   Follower follower("/srv/models");
///   const Way way = follower.next(fingerprint of what is served, or nothing);
///   if (!way.nothing()) place.replace / place.patch …, then ask again
///
/// It reads files of the folder and changes nothing: no sockets, no printing, no thread.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/file_state.h"
#include "modelfile/model_line.h"
#include "publish/manifest.h"
#include "store/checksum.h"

namespace leveret::publish {

/// From what is served to the newest step. The result is to be seen by others when all of it is
/// done: a model between may be older than the one that is served.
struct Way {
  std::string full;                  ///< load this file; empty: go on with what is served
  std::vector<std::string> patches;  ///< then apply these, in order
  std::uint64_t step = 0;            ///< that it leads to
  store::Checksum fingerprint = {};  ///< of that step's model
  std::uint64_t sequence = modelfile::kNoSequence;  ///< its examples learned
  /// Files that another way would have needed and that are damaged or gone, each "FILE: what is
  /// wrong". Somebody should know of them.
  std::vector<std::string> avoided;

  /// Nothing is to be done: the newest step is served.
  bool nothing() const { return full.empty() && patches.empty(); }
};

/// There is no manifest, or one of no step: nothing has been published there yet.
struct NoSteps : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One thread.
class Follower {
 public:
  /// Opens nothing yet.
  explicit Follower(std::string folder);

  /// The way to the newest step that takes the fewest bytes: patches from what is served, or a
  /// full file and the patches behind it. Works for whoever is behind, at or ahead of it (after a
  /// rollback), or serves something else altogether. All files of the way have been read and
  /// verified; a way with a damaged one gives way to the next. Where a file is gone, as the
  /// publisher has pruned it since, the manifest is read again. std::runtime_error names the
  /// manifest or file that is at fault, where no way is left; it is NoSteps before the first step.
  ///
  /// Costs a stat where the manifest has not changed and its newest step is served.
  Way next(const std::optional<store::Checksum>& served);

  /// Whether the manifest is another than when `next` has read it. Costs a stat.
  bool changed() const;
  const std::string& folder() const { return folder_; }

 private:
  void read_again();
  Way way(const std::optional<store::Checksum>& served) const;

  const std::string folder_;
  std::optional<files::FileState> state_;  ///< of the manifest that was read
  Manifest manifest_;
};

}  // namespace leveret::publish
