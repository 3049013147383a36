/// The last models of a run that follows a folder, to go back to: in MODEL.kept, NAME.lvt is the
/// model that had learned the files up to NAME, and `begin` the one of a run's begin, where that
/// had followed none. They are further names (hard links) of what was saved as MODEL, so that they
/// cost no write.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "train/chunk_ledger.h"

namespace leveret::train {

/// One thread at a time, of one process.
class KeptModels {
 public:
  explicit KeptModels(const std::string& model) : model_(model), folder_(model + ".kept") {}

  const std::string& folder() const { return folder_; }
  /// The name for a model that has learned up to the file `followed`.
  std::string path_of(const std::string& followed) const;
  bool has(const std::string& followed) const;
  /// Keeps the file of the model that a run begins with, in place of one that another run has begun
  /// with; empty: a new one, which has none. Returns 0, or the error (errno).
  int begin_with(const std::string& file) const;
  /// Removes, of those of files up to `followed`, all but the newest `keep`; nothing that is no
  /// model of MODEL's line. What cannot be removed stays: it is in nobody's way.
  void prune(const std::string& followed, std::size_t keep) const noexcept;

  struct Kept {
    std::string path, followed;
    std::size_t chunks = 0;  ///< that it has learned
  };
  /// The newest from before the file `name` that is of the line of `model`, a file, has learned
  /// what that, with `learned`, learned first, and none of `unwanted`. Nothing where there is none.
  /// What cannot be read is passed over.
  std::optional<Kept> newest_before(const std::string& name, const std::string& model,
                                    const ChunkLedger& learned, const ChunkLedger& unwanted) const;

 private:
  std::vector<std::string> names() const;

  std::string model_, folder_;
};

}  // namespace leveret::train
