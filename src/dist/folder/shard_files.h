/// A model in a folder, a file for each shard (leveret-distributed(7), "THE FOLDER").
///
/// Files are written side by side by the ranks that hold them, under names that no older save in
/// the folder has; the manifest, which names them, is written last, by rank 0. So the folder holds
/// the old model or the new one, whichever rank ends when. Files that no manifest names are what a
/// save that was killed has left; the next one removes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/folder/manifest.h"
#include "dist/learn/sharded_model.h"
#include "dist/talk/communicator.h"
#include "spec/spec.h"
#include "store/model_file.h"
#include "train/input_position.h"

namespace leveret::dist {

/// To be called by all ranks, each with its shards; makes the folder where it is not there.
/// `position`: where the run is in its input; rank 0's counts. Errors as agree() has them: without
/// a new manifest, and without new files where they can be removed.
void save_shards(const ShardedModel& model, Communicator& ranks, const std::string& folder,
                 const std::optional<train::InputPosition>& position = std::nullopt);

/// To be called by all ranks, each with the number of its first shard, long before save_shards:
/// errors are what that would meet at once (the folder cannot be made, a rank has no room in it,
/// the manifest there is damaged). Leaves nothing but what was there.
void try_save_shards(Communicator& ranks, const std::string& folder, std::uint32_t first);

/// An open manifest, and the frame that comes with it. Threads: one. Errors are std::runtime_error
/// that names the file.
class ShardFolder {
 public:
  static constexpr int kVersion = Manifest::kVersion;

  /// Whether `path` is a folder, and so no model in one file.
  static bool is_folder(const std::string& path);
  /// Whether a model was ever saved in the folder, if it is one.
  static bool has_model(const std::string& path);

  explicit ShardFolder(std::string folder);

  const std::string& path() const { return folder_; }
  std::uint32_t shards() const { return static_cast<std::uint32_t>(files_.size() - 1); }
  std::uint64_t generation() const { return generation_; }
  const spec::Spec& spec() const { return spec_; }
  /// Where the run that saved it was in its input, if it has said so.
  const std::optional<train::InputPosition>& position() const { return position_; }

  /// Shards [first, first + count), and the frame; all bytes are verified, and that they belong
  /// together. `spec`: the folder's, in which learning options may be others. `memory_limit`: as
  /// for ShardedModel.
  std::unique_ptr<ShardedModel> load(const spec::Spec& spec, std::uint32_t first,
                                     std::uint32_t count, std::uint64_t memory_limit,
                                     const kernels::Kernels& kernels) const;

  using File = ManifestFile;
  /// The frame's, then those of the shards.
  const std::vector<File>& files() const { return files_; }
  /// One of files(), which is the one that the manifest means.
  store::ModelFile open(std::size_t number) const;

 private:
  std::string folder_;
  std::uint64_t generation_ = 0;
  std::vector<File> files_;
  std::optional<train::InputPosition> position_;
  spec::Spec spec_;
};

}  // namespace leveret::dist
