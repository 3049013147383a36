/// The last models of a run that follows a folder, to go back to: in MODEL.kept, NAME.lvt is the
/// model that had learned the files up to NAME. They are further names (hard links) of what was
/// saved as MODEL, so that they cost no write.
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
  explicit KeptModels(const std::string& model) : folder_(model + ".kept") {}

  const std::string& folder() const { return folder_; }
  /// The name for a model that has learned up to the file `followed`.
  std::string path_of(const std::string& followed) const;
  /// Makes the folder; std::runtime_error where that cannot be.
  void make_folder() const;
  /// Removes, of those of files up to `followed`, all but the newest `keep`; nothing that is not
  /// such a model. What cannot be removed stays: it is in nobody's way.
  void prune(const std::string& followed, std::size_t keep) const noexcept;
  /// The newest that is an earlier one of the model which has learned `learned`, and that has
  /// learned none of `unwanted`. Nothing where there is none. Damaged files are passed over.
  std::optional<std::string> newest_without(const ChunkLedger& learned,
                                            const std::vector<ChunkHash>& unwanted) const;

 private:
  std::vector<std::string> names() const;

  std::string folder_;
};

}  // namespace leveret::train
