/// A model to and from its file (man/leveret-model.5).
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace leveret::train {

/// What the model will be used for decides how its bytes come to memory.
enum class LoadFor {
  kPrediction,  ///< mapped: at once, pages shared with other processes (but FirstRows)
  kTraining,    ///< read into memory of its own, with huge pages
};

/// Saves atomically. Refuses, with std::runtime_error, weights that are not finite. Of one model one
/// at a time: tables bring their rows together for it.
void save_model(const model::Model& model, const std::string& path);

/// Throws std::runtime_error that names the file and what is wrong with it.
model::Model load_model(const std::string& path, LoadFor purpose, std::uint64_t memory_limit);

/// Default of --max_memory: three quarters of the machine's, at most half of `ulimit -v`.
std::uint64_t default_memory_limit();

}  // namespace leveret::train
