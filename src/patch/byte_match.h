/// Which bytes of a new file are like which of an old one, of whatever kind the files are.
#pragma once

#include <cstdint>

#include "patch/row_map.h"
#include "patch/row_window.h"

namespace leveret::patch {

/// Where each byte of the new file comes from: the same place while that is alike, and where a
/// chunk (64 bytes to a millionth of the old file) of the new one is found elsewhere in the old
/// one, there. Bytes that come from somewhere are not all equal to those. Reads both files once and
/// a little, and takes at most some 20 MB beside the map.
RowMap match_bytes(const ReadAt& before, std::uint64_t old_bytes, const ReadAt& now,
                   std::uint64_t new_bytes);

}  // namespace leveret::patch
