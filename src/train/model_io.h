/// A model to and from its file (man/leveret-model.5).
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"
#include "store/model_file.h"

namespace leveret::train {

/// How the bytes of a file come to memory.
enum class LoadBy {
  kReading,  ///< a copy in memory of our own, with huge pages
  kMapping,  ///< pages of the file, shared with other processes: to predict alone (see Arena::map)
};

/// Saves atomically. Refuses, with std::runtime_error, weights that are not finite. Of one model
/// one at a time: tables bring their rows together for it.
void save_model(const model::Model& model, const std::string& path);

/// All bytes are verified, and all numbers finite. Throws std::runtime_error that names the file
/// and what is wrong with it. Who maps it asks the file from time to time whether it has been
/// changed: what was predicted since the last time is worth nothing then.
model::Model load_model(const std::string& path, std::uint64_t memory_limit,
                        LoadBy by = LoadBy::kReading);
model::Model load_model(const store::ModelFile& file, std::uint64_t memory_limit,
                        LoadBy by = LoadBy::kReading);

/// Default of --max_memory: three quarters of the machine's, at most half of `ulimit -v`.
std::uint64_t default_memory_limit();

}  // namespace leveret::train
