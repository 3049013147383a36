/// How the sections of a new file come from those of an old one: what who makes a patch and who
/// applies it know alike, from the two tables and the changes of keys.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patch/key_change.h"
#include "patch/piece_coder.h"
#include "patch/row_map.h"
#include "patch/row_window.h"
#include "store/layout.h"

namespace leveret::patch {

/// A list of keys, and with it the sections whose rows belong to it.
struct KeyGroup {
  std::size_t section;                 ///< the new one of the keys
  const store::StoredSection* before;  ///< the old one; null: there is none
  /// The keys are not in the order that they should be in: sections go by position.
  bool by_position = false;
  std::uint64_t first_run = 0;  ///< of the old keys
  KeyMap map;
  RowSet changed;  ///< new positions whose rows differ from the old ones in some section
};

/// A section of the new file.
struct Column {
  static constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

  const store::StoredSection* now;
  const store::StoredSection* before;  ///< what its rows come from; null: nothing
  bool same;                           ///< both have the same bytes
  bool is_keys = false;                ///< of its group
  std::size_t group = kNoGroup;        ///< whose keys its rows go by
  std::uint64_t rows, row_bytes;       ///< of the new one; row_bytes is a whole number of codes
  std::uint64_t old_rows, old_row_bytes;
  std::uint64_t skip, old_skip;  ///< keys of the group before those of the rows
  RowMap positions;              ///< without a group: where its rows come from
  /// Whether the patch has codes for it: the rows of others follow from what is known.
  bool is_coded() const { return !same && !is_keys; }

  std::string kind;  ///< its name with each number in it as #: columns of a kind are alike
};

/// Rows that are coded together.
struct Piece {
  std::size_t column;
  std::uint64_t first, rows;
};

struct Block {
  std::vector<Piece> pieces;
  bool is_coded = false;  ///< the patch says something about it
};

/// New rows that a block covers, in bytes: what a thread works on at a time.
constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;

struct PatchPlan {
  std::vector<KeyGroup> groups;  ///< those with a section that is not the same
  std::vector<Column> columns;   ///< one for each new section
};

/// The plan of a patch of bytes: one section, which is the whole file.
struct BytePlan {
  BytePlan(std::uint64_t old_bytes, std::uint64_t new_bytes, RowMap matches);

  store::StoredSection before, now;
  PatchPlan plan;  ///< points to both: it stays where it is
  BytePlan(const BytePlan&) = delete;
  BytePlan& operator=(const BytePlan&) = delete;
};

/// Both layouts outlive it. The groups' changes are to be filled in.
PatchPlan make_plan(const store::Layout& before, const store::Layout& now);
/// After it is known which groups go by position.
void settle_columns(PatchPlan& plan);
/// The pieces of all columns in the order of the new file, block after block: of what a file only
/// says that it has there may be any number.
class BlockCursor {
 public:
  explicit BlockCursor(const PatchPlan& plan) : plan_(plan) {}
  /// Nothing after the last.
  std::optional<Block> next();

 private:
  const PatchPlan& plan_;
  std::size_t column_ = 0;
  std::uint64_t row_ = 0;
};

/// The old rows of a piece.
struct Prediction {
  PieceShape shape;
  std::vector<std::byte> rows;  ///< zero where there was nothing
};

/// With `all` every row that comes from an old one is changeable, else those of the group's
/// changes.
Prediction predict(const PatchPlan& plan, const Piece& piece, const ReadAt& read, bool all);

/// Makes the new keys of a piece of its keys' own column out of the old ones.
void fill_keys(const KeyGroup& group, const Piece& piece, Prediction& keys);

/// Runs of rows: appends one row to them.
void append_row(std::vector<RowRange>& ranges, std::uint64_t row, std::uint64_t count = 1);

}  // namespace leveret::patch
