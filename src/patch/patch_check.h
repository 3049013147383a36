/// Whether a patch is whole, told without its base.
#pragma once

#include <string>

#include "patch/patch_stream.h"

namespace leveret::patch {

/// Reads all of a patch, verifies the checksum of each record, and returns its front. Memory: a
/// record. std::runtime_error names the file and says what is wrong.
PatchFront check_patch(const std::string& path);

}  // namespace leveret::patch
