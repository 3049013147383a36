/// One run of `leveret-mpi train`, as each of its ranks goes through it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/input.h"
#include "cli/learn/pass_options.h"
#include "cli/learn/report_options.h"
#include "dist/talk/communicator.h"
#include "options/spec_flags.h"

namespace leveret::cli {

enum class Strategy {
  kDes,   ///< distributed equivalent substitution
  kMesh,  ///< weights by key, pulled and pushed
};

struct MpiTrainOptions {
  InputOptions input;
  ReportOptions report;
  options::SpecFlags flags;
  PassOptions passes;
  std::string initial_model;  ///< -i; empty: a new model
  std::string
      final_model;  ///< -f, a folder, of a mesh a file; empty: the model is dropped at the end
  std::uint64_t max_memory = 0;  ///< of a rank, or with `deterministic` of all; 0: of the machine
  Strategy strategy = Strategy::kDes;
  unsigned wire_bits = 32;       ///< of a partial sum on the network: 32 or 16
  std::uint64_t save_every = 0;  ///< examples between checkpoints; 0: none
  bool resume = false;           ///< go on with the checkpoint in final_model, if one is there
  bool deterministic = false;
  bool explain_plan = false;

  /// The batch size of a new model whose command line has none.
  static constexpr std::uint32_t kBatchSize = 1024;
};

/// Learns and saves. To be called by all ranks with the same options; rank 0 alone reads and says
/// what there is to say. Errors are exceptions: dist::FailedElsewhere on ranks that have nothing to
/// say of it.
void learn_together(MpiTrainOptions& options, dist::Communicator& ranks);

}  // namespace leveret::cli
