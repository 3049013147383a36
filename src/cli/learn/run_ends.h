/// Messages about a run of `train` that ends before its input does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/learn/train_run.h"
#include "train/input_position.h"

namespace leveret::cli {

/// A signal came. `position`: where that is known. `pass`: the one that it came in, where what that
/// has learned is given up for the model of a better one; else 0.
std::string stopped_text(const std::optional<train::InputPosition>& position, unsigned pass);

/// An error came: "; " and what there is of the model. `best_pass`: whose model has been saved; 0:
/// none. `last_checkpoint`: empty where there is none.
std::string not_saved_text(const TrainOptions& options, const std::string& followed,
                           std::uint32_t best_pass, const std::string& last_checkpoint);

}  // namespace leveret::cli
