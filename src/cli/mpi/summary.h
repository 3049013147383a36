/// The summary of `leveret-mpi train`, made of what each rank has.
#pragma once

#include <span>
#include <string>

#include "cli/learn/train_summary.h"
#include "cli/mpi/rank_model.h"
#include "dist/talk/communicator.h"

namespace leveret::cli {

/// This rank's figures, as a message to rank 0.
dist::Bytes rank_figures(const RankModel& model);
/// As train_summary, from what rank_figures has given on every rank.
std::string mpi_summary(const RankModel& model, const RunFigures& run,
                        std::span<const dist::Bytes> of_ranks);

}  // namespace leveret::cli
