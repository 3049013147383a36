/// A folder from which models are served: full files, patches, and a manifest (leveret-publish(5)).
///
/// The manifest is written last, by rename: who reads the folder sees the old steps or the new
/// ones. A publisher that is killed leaves a folder with which readers and the next publisher go
/// on; that one removes what it has left. One publisher at a time; readers need no lock. Errors are
/// std::runtime_error that say what to do; then the folder is as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "publish/gate.h"
#include "publish/manifest.h"

namespace leveret::publish {

struct PublishOptions {
  std::optional<int> bits;        ///< of a weight; nothing: those of the newest step, or 16
  std::uint64_t min_count = 0;    ///< features that were seen fewer times are left out
  double tolerance = 0;           ///< codes stay where a number has moved by less (ExportOptions)
  std::uint64_t full_every = 10;  ///< steps from one full file to the next; 1: all are full
  std::uint64_t keep = 100;  ///< steps that --rollback can return to, and that patches lead on from
  std::vector<Gate> gates;
  unsigned threads = 1;  ///< that make a patch, and intervals for gates
};

/// The outcome of a call.
struct Published {
  enum class What {
    kNew,         ///< there is a new step
    kSame,        ///< the newest step has this very model: nothing has changed
    kRefused,     ///< by a gate: nothing has changed
    kRolledBack,  ///< it is the model of a step that a rollback has left: nothing has changed
  };
  What what = What::kNew;
  /// Of the new step; those without a name are not there. kSame: of the newest step; kRolledBack:
  /// of the one that the rollback has left.
  Entry full, patch;
  std::vector<Measured> measured;  ///< by the gates
  /// In words: the model has not come from that of the newest step by learning on, as it has
  /// learned less, or is of another line. Empty: it has, or nobody knows.
  std::string odd;
  /// The newest step could not be made again, for this reason: the new one has no patch.
  std::string damage;
};

/// Makes the folder, unless it is there, and an export of `model` its newest step; an export is
/// published as it is (then bits, min_count and tolerance say nothing). A model that a rollback has
/// left is not published again: cron or --watch would undo the rollback. roll_back() to its step
/// does.
Published publish_model(const std::string& folder, const std::string& model,
                        const PublishOptions& options);

/// Makes an older step's model the newest step. That one has a full file, so that whoever follows
/// gets there, from wherever he is: the step's own, or where it had none, one that is made of the
/// full file before it and the patches between.
Published roll_back(const std::string& folder, std::uint64_t step, const PublishOptions& options);

}  // namespace leveret::publish
