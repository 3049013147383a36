/// Where `train --resume` goes on: with a checkpoint of the run before, or with its model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/learn/train_run.h"
#include "model/model.h"
#include "train/notes.h"

namespace leveret::cli {

struct Resumed {
  std::string path;
  train::Notes notes;  ///< with the position in the input
  model::Model model;
  bool is_checkpoint = false;       ///< else the model of -f
  std::vector<std::string> broken;  ///< newer checkpoints, which are not whole
};

/// The newest checkpoint that is whole, or the model of -f where that has learned as much of the
/// same input; says which one is not whole. Nothing where there is none to go on with, and where
/// the run before has ended and `input` is another. std::runtime_error where the run before is
/// within another input, has learned in another number of threads, or has held out others.
std::optional<Resumed> find_resumed(const TrainOptions& options, std::uint64_t memory_limit);

/// A checkpoint of the model `model` that a run has left which did not end, and of which that is
/// not noted yet (train::Checkpoints::left); empty: there is none, or a run that ended has saved
/// `model` since.
std::string unfinished_checkpoint(const std::string& model);

/// "1000 examples of pass 2"
std::string how_far(const train::InputPosition& position);

}  // namespace leveret::cli
