/// One run of `train`: what the command line asks for, and the way from the input to the model.
#pragma once

#include <cstdint>
#include <string>

#include "cli/input.h"
#include "cli/learn/followed_model.h"
#include "cli/learn/pass_options.h"
#include "cli/learn/report_options.h"
#include "cli/learn/save_interval.h"
#include "cli/raw_rows.h"
#include "options/spec_flags.h"

namespace leveret::cli {

struct TrainOptions {
  InputOptions input;
  ColumnFlags columns;
  ReportOptions report;
  options::SpecFlags flags;
  std::string initial_model;          ///< -i; empty: a new model
  std::string final_model;            ///< -f; empty: it is dropped at the end
  std::uint64_t holdout_after = 0;    ///< 0: nothing is held out
  std::uint64_t test_then_train = 0;  ///< examples of a window; 0: each is one
  PassOptions passes;
  std::uint64_t max_memory = 0;  ///< 0: what the machine has
  unsigned threads = 1;
  bool pin = false;
  SaveInterval save_every;  ///< not given: no checkpoints
  std::size_t keep_checkpoints = kKeep;
  bool keep_given = false;  ///< they stay when the model is saved
  bool resume = false;      ///< go on with the last checkpoint, if there is one
  bool follow = false;      ///< -d is a folder, whose files are learned as they appear
  FollowOptions following;
  bool again = false;          ///< learn chunks that the model has learned before
  bool deterministic = false;  ///< in shards, as leveret-mpi does

  /// The one before the newest is there for when that is damaged.
  static constexpr std::size_t kKeep = 2;
  bool holds_out() const { return passes.holds_out(input.passes); }
  /// Whether it is known where in the input the run is.
  bool has_position() const { return save_every.given() || resume; }
};

/// Learns and saves. Files appear only when all went well. Errors are exceptions, as elsewhere.
void learn_and_save(const TrainOptions& options);

}  // namespace leveret::cli
