/// Files that killed saves have left in a folder of shards. Private to shard_files.
#pragma once

#include <string>
#include <vector>

#include "dist/folder/shard_files.h"

namespace leveret::dist {

/// Removes files that are named as those of a save are and that are none of `kept`, and temporary
/// files of such names whose writer is gone; nothing else. While nobody saves in the folder. What
/// cannot be removed stays: it is in nobody's way.
void remove_litter(const std::string& folder, const std::vector<ShardFolder::File>& kept) noexcept;

}  // namespace leveret::dist
