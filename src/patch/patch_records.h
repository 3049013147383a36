/// The content of the records of a patch (leveret-patch(5)): written from what is known, and read
/// back. Readers throw CorruptCode. Any number of threads; memory for one record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "patch/patch_plan.h"
#include "patch/patch_stream.h"

namespace leveret::patch {

/// The front of the new file, up to where its sections begin.
std::vector<std::byte> write_table(std::span<const std::byte> front);
std::vector<std::byte> read_table(std::span<const std::byte> content);

/// How many keys of a section changed, and how many have rows that did.
struct KeysSummary {
  std::uint64_t column = 0, old_keys = 0, deleted = 0, moved = 0, inserted = 0, changed = 0;
  bool by_position = false;
};

/// `change` is null where the group goes by position.
std::vector<std::byte> write_keys(const KeyGroup& group, std::uint64_t old_keys,
                                  const KeyChange* change);
KeysSummary read_keys_summary(std::span<const std::byte> content);
/// Fills in the group. `before`: its old keys.
void read_keys(std::span<const std::byte> content, std::span<const std::uint32_t> before,
               KeyGroup& group);

/// Where the bytes of a new file come from.
std::vector<std::byte> write_matches(const RowMap& matches);
RowMap read_matches(std::span<const std::byte> content, std::uint64_t old_bytes,
                    std::uint64_t new_bytes);

/// How much of a piece changed.
struct PieceSummary {
  std::uint64_t column = 0;
  std::uint64_t changes = 0;     ///< codes of rows that were there
  std::uint64_t fresh_rows = 0;  ///< rows that were not
  std::uint64_t bytes = 0;       ///< that it takes in the record; in one of planes its share
};

/// Gives the new rows of a piece that is coded.
using ReadPiece = std::function<std::vector<std::byte>(const Piece& piece)>;

Record write_block(const PatchPlan& plan, const Block& block, const ReadAt& before,
                   const ReadPiece& now);
std::vector<PieceSummary> read_block_summary(std::span<const std::byte> content);
/// The new rows of all pieces of a block. `record` is empty where the block is not coded.
std::vector<std::vector<std::byte>> read_block(const PatchPlan& plan, const Block& block,
                                               const ReadAt& before, const Record& record);

}  // namespace leveret::patch
