/// A small patch of each kind with its base and result, and what the tests do to its bytes.
#pragma once

#include <span>
#include <vector>

#include "files/temp_folder.h"
#include "patch/patch.h"
#include "store/layout_bytes.h"
#include "store/random_tables.h"

namespace leveret::patch {

using Bytes = std::vector<std::byte>;

struct SmallPatch {
  explicit SmallPatch(PatchKind kind) {
    store::RandomTables tables(1, 12);
    tables.save(folder / "old");
    tables.change(0.2);
    tables.save(folder / "new");
    if (kind == PatchKind::kSections) {
      make_patch(store::ModelFile::open(folder / "old"), store::ModelFile::open(folder / "new"), {},
                 folder / "patch", 1);
    } else {
      make_byte_patch(folder / "old", folder / "new", folder / "patch", 1);
    }
    base = files::read_bytes(folder / "old");
    result = files::read_bytes(folder / "new");
    patch = files::read_bytes(folder / "patch");
  }

  files::TempFolder folder;  ///< with old, new and patch
  Bytes base, result, patch;
};

/// Where the records begin that lie inside the file.
inline std::vector<std::size_t> record_offsets(std::span<const std::byte> patch) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 112; at + 16 <= patch.size();) {
    const std::size_t end = at + 16 + store::get<std::uint32_t>(patch, at);
    if (end > patch.size()) break;
    offsets.push_back(at);
    at = end;
  }
  return offsets;
}

/// Makes the checksums of the front and of the records right.
inline void repair_patch(std::span<std::byte> patch) {
  if (patch.size() < 112) return;
  const std::uint64_t salt = store::seeded_checksum(patch.first(104), 0);
  store::put(patch, 104, salt);
  std::uint64_t number = 0;
  for (const std::size_t at : record_offsets(patch)) {
    const auto content = patch.subspan(at + 16, store::get<std::uint32_t>(patch, at));
    store::put(patch, at + 8,
               store::seeded_checksum(
                   content, salt + (number++ << 8) + store::get<std::uint32_t>(patch, at + 4)));
  }
}

}  // namespace leveret::patch
