/// How the ranks of `leveret-mpi train` come to a model to begin with: rank 0 looks at the command
/// line, at files and at the model to go on with, and tells the others.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "cli/mpi/train_run.h"
#include "dist/talk/communicator.h"
#include "spec/spec.h"
#include "train/input_position.h"

namespace leveret::cli {

struct TrainingStart {
  spec::Spec spec;
  std::uint32_t shards;       ///< of all ranks together
  std::uint64_t shard_bytes;  ///< that the tables of each may take
  /// With --resume: where the checkpoint is that is gone on with; on rank 0.
  std::optional<train::InputPosition> position;
};

/// Where a checkpoint is gone on with, it is options.initial_model from then on. Misuse that rank 0
/// alone can see is CLI::ValidationError there, and dist::FailedElsewhere with exit code 2 on the
/// others. What -f names has been tried: a model can be saved there.
TrainingStart start_training(MpiTrainOptions& options, dist::Communicator& ranks);

/// 2 for misuse, else 1.
int exit_code_of(std::exception_ptr error);

}  // namespace leveret::cli
