/// A model to and from its file (man/leveret-model.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "files/atomic_file.h"
#include "model/model.h"
#include "store/model_file.h"

namespace leveret::modelfile {

/// How the bytes of a file come to memory.
enum class LoadBy {
  kReading,  ///< a copy in memory of our own, with huge pages
  kMapping,  ///< rows are pages of the file, shared with other processes: to predict alone
};

/// Saves atomically. What the bytes are depends on what the model has learned alone. Refuses, with
/// std::runtime_error, weights that are not finite.
/// `notes`: of store::make_notes, what is to stand in the file beside the model; empty: nothing.
void save_model(const model::Model& model, const std::string& path,
                std::span<const std::byte> notes = {});
/// The same without the wait for the disk: the model may go on learning once it returns. The file
/// appears with commit(), which any thread may call.
files::AtomicFile begin_save(const model::Model& model, const std::string& path,
                             std::span<const std::byte> notes = {});

/// All bytes are verified, and all numbers finite. To predict, rows come without what only learning
/// needs. Throws std::runtime_error that names the file and what is wrong with it. A caller that
/// maps it asks the file from time to time whether it has been changed: what was predicted since
/// the last time is worth nothing then.
model::Model load_model(const store::ModelFile& file, std::uint64_t memory_limit,
                        model::Use use = model::Use::kLearn, LoadBy by = LoadBy::kReading);
model::Model load_model(const std::string& path, std::uint64_t memory_limit,
                        model::Use use = model::Use::kLearn, LoadBy by = LoadBy::kReading);

/// Default of --max_memory: three quarters of the machine's, or of the cgroup's
/// (table::machine_memory), at most half of `ulimit -v`.
std::uint64_t default_memory_limit();

}  // namespace leveret::modelfile
