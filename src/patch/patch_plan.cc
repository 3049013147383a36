#include "patch/patch_plan.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "patch/row_window.h"

namespace leveret::patch {
namespace {

/// Rows of more bytes go by position: a piece has at least one row.
constexpr std::uint64_t kMaxRowBytes = std::uint64_t{1} << 20;

/// Bytes of the codes of a type; two codes of 4 bits are one.
std::uint64_t code_bytes(store::Dtype dtype) {
  const std::uint64_t bits = store::dtype_bits(dtype);
  return bits % 8 != 0 ? bits / 4 : std::min<std::uint64_t>(bits / 8, 4);  // of two, or of one
}

std::string kind_of(const store::StoredSection& section) {
  std::string kind;
  for (const char c : section.name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) kind += c;
    if (digit && !kind.ends_with('#')) kind += '#';
  }
  return (kind += ' ') += store::dtype_name(section.dtype);
}

bool is_keys(const store::Layout& layout, std::size_t number) {
  return layout.sections[number].declared.keys == number + 1;
}

const store::StoredSection* keys_of(const store::Layout& layout,
                                    const store::StoredSection& section) {
  const std::uint32_t keys = section.declared.keys;
  return keys == 0 ? nullptr : &layout.sections[keys - 1];
}

/// Bytes of a row that can go by its key; 0: of none.
std::uint64_t keyed_row_bytes(const store::StoredSection& section) {
  if (section.shape.empty() || section.shape[0] == 0) return 0;
  const std::uint64_t bytes = section.bytes / section.shape[0];
  const bool whole =
      section.bytes % section.shape[0] == 0 && bytes % code_bytes(section.dtype) == 0;
  return whole && bytes <= kMaxRowBytes ? bytes : 0;
}

std::uint64_t skipped_keys(const store::Layout& layout, const store::StoredSection& section) {
  const store::StoredSection* const keys = keys_of(layout, section);
  return section.declared.last_keys ? keys->shape[0] - section.shape[0] : 0;
}

class Planner {
 public:
  Planner(const store::Layout& before, const store::Layout& now) : before_(before), now_(now) {
    for (const store::StoredSection& section : before.sections)
      by_name_.emplace(section.name, &section);
    rows_of_.resize(now.sections.size());
    for (std::size_t i = 0; i < now.sections.size(); ++i) {
      const std::uint32_t keys = now.sections[i].declared.keys;
      if (keys != 0) rows_of_[keys - 1].push_back(i);
    }
  }

  PatchPlan make() {
    PatchPlan plan;
    for (const store::StoredSection& section : now_.sections)
      plan.columns.push_back(column(section));
    for (std::size_t i = 0; i < now_.sections.size(); ++i) {
      if (is_keys(now_, i) && has_change(plan, i)) add_group(plan, i);
    }
    return plan;
  }

 private:
  const store::StoredSection* find(const store::StoredSection& section) const {
    const auto found = by_name_.find(section.name);
    if (found == by_name_.end() || found->second->dtype != section.dtype) return nullptr;
    return found->second;
  }

  Column column(const store::StoredSection& section) const {
    Column column = {};
    column.now = &section;
    column.before = find(section);
    column.same = column.before != nullptr && column.before->bytes == section.bytes &&
                  column.before->checksum == section.checksum;
    column.group = Column::kNoGroup;
    column.kind = kind_of(section);
    return column;
  }

  bool has_change(const PatchPlan& plan, std::size_t keys) const {
    return std::ranges::any_of(rows_of_[keys],
                               [&](std::size_t i) { return !plan.columns[i].same; });
  }

  void add_group(PatchPlan& plan, std::size_t keys) const {
    const store::StoredSection& section = now_.sections[keys];
    const store::StoredSection* before = find(section);
    if (before != nullptr && keys_of(before_, *before) != before) before = nullptr;
    for (const std::size_t i : rows_of_[keys]) {
      if (!plan.columns[i].same) join(plan.columns[i], plan.groups.size(), before, i == keys);
    }
    plan.groups.push_back({keys, before, false, 0, {}, {}});
  }

  void join(Column& column, std::size_t group, const store::StoredSection* old_keys,
            bool is_keys) const {
    const store::StoredSection& now = *column.now;
    column.row_bytes = keyed_row_bytes(now);
    if (column.row_bytes == 0) return;  // it goes by position, or has no rows
    column.group = group;
    column.is_keys = is_keys;
    column.rows = now.shape[0];
    column.skip = skipped_keys(now_, now);
    const store::StoredSection* const before = column.before;
    if (before == nullptr) return;
    column.old_row_bytes = keyed_row_bytes(*before);
    if (old_keys == nullptr || keys_of(before_, *before) != old_keys || column.old_row_bytes == 0) {
      column.before = nullptr;
      column.old_row_bytes = 0;
      return;
    }
    column.old_rows = before->shape[0];
    column.old_skip = skipped_keys(before_, *before);
  }

  const store::Layout& before_;
  const store::Layout& now_;
  std::unordered_map<std::string_view, const store::StoredSection*> by_name_;
  std::vector<std::vector<std::size_t>> rows_of_;  ///< by section: those whose keys it is
};

bool same_rows(const store::StoredSection& a, const store::StoredSection& b) {
  return a.shape.size() == b.shape.size() &&
         std::equal(a.shape.begin() + (a.shape.empty() ? 0 : 1), a.shape.end(),
                    b.shape.begin() + (b.shape.empty() ? 0 : 1));
}

void copy_bytes(Column& column) {
  column.group = Column::kNoGroup;
  column.is_keys = false;
  column.rows = column.old_rows = column.now->bytes;
  column.row_bytes = column.old_row_bytes = 1;
  column.skip = column.old_skip = 0;
  column.positions = {};
  column.positions.append(column.rows, 0);
}

/// Code by code; row by row where rows have another length than before.
void go_by_position(Column& column) {
  const store::StoredSection& now = *column.now;
  column.group = Column::kNoGroup;
  column.is_keys = false;
  column.row_bytes = column.old_row_bytes = code_bytes(now.dtype);
  column.skip = column.old_skip = 0;
  const store::StoredSection* const before = column.before;
  if (before != nullptr && !same_rows(now, *before)) {
    const std::uint64_t bytes = keyed_row_bytes(now), old_bytes = keyed_row_bytes(*before);
    if (bytes > 0 && old_bytes > 0) {
      column.row_bytes = bytes;
      column.old_row_bytes = old_bytes;
    }
  }
  column.rows = now.bytes / column.row_bytes;
  column.old_rows = before == nullptr ? 0 : before->bytes / column.old_row_bytes;
  const std::uint64_t common = std::min(column.rows, column.old_rows);
  column.positions = {};
  column.positions.append(common, 0);
  column.positions.append(column.rows - common, RowMap::kNone);
}

/// Gathers the old rows of a piece.
class Predictor {
 public:
  Predictor(const PatchPlan& plan, const Piece& piece, const ReadAt& read, bool all)
      : column_(plan.columns[piece.column]), piece_(piece), read_(read) {
    to_.shape.dtype = column_.now->dtype;
    to_.shape.row_bytes = column_.row_bytes;
    to_.rows.resize(piece.rows * column_.row_bytes);
    if (column_.group != Column::kNoGroup) {
      const KeyGroup& group = plan.groups[column_.group];
      map_ = &group.map.rows;
      second_run_ = group.first_run;
      if (!all) changed_ = &group.changed;
    } else {
      map_ = &column_.positions;
    }
    if (column_.before != nullptr && column_.old_row_bytes > 0) {
      for (std::size_t run = 0; run < kKeyRuns; ++run) {
        windows_.emplace_back(read_, column_.before->offset, column_.old_rows,
                              column_.old_row_bytes);
      }
    }
  }

  Prediction make() {
    const std::uint64_t begin = piece_.first + column_.skip;
    map_->visit(begin, piece_.rows, [&](std::uint64_t at, std::uint64_t count, std::uint64_t from) {
      add(at - begin, count, from);
    });
    return std::move(to_);
  }

 private:
  /// Rows of the piece, and the old positions of their keys.
  void add(std::uint64_t row, std::uint64_t count, std::uint64_t from) {
    if (from == RowMap::kNone || windows_.empty()) {
      return append_row(to_.shape.fresh, row, count);
    }
    const std::uint64_t begin = column_.old_skip, end = begin + column_.old_rows;
    const std::uint64_t before = from < begin ? std::min(begin - from, count) : 0;
    const std::uint64_t first = from + before;
    const std::uint64_t there = first < end ? std::min(end - first, count - before) : 0;
    append_row(to_.shape.fresh, row, before);
    if (there > 0) copy(row + before, there, first);
    append_row(to_.shape.fresh, row + before + there, count - before - there);
  }

  void copy(std::uint64_t row, std::uint64_t count, std::uint64_t from) {
    std::byte* to = to_.rows.data() + row * column_.row_bytes;
    const std::uint64_t first = from - column_.old_skip, old_bytes = column_.old_row_bytes;
    if (old_bytes == column_.row_bytes && count * old_bytes >= kDirect) {
      read_(column_.before->offset + first * old_bytes, {to, count * old_bytes});
    } else {
      RowWindow& window = windows_[from < second_run_ ? 0 : 1];
      const std::uint64_t common = std::min(old_bytes, column_.row_bytes);
      for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t part =
            std::min(count - done, std::max<std::uint64_t>(1, kDirect / old_bytes));
        const std::byte* rows = window.rows(first + done, part);
        for (std::uint64_t i = 0; i < part; ++i, to += column_.row_bytes, rows += old_bytes) {
          std::memcpy(to, rows, common);
        }
        done += part;
      }
    }
    mark(row, count);
  }

  void mark(std::uint64_t row, std::uint64_t count) {
    if (changed_ == nullptr) return append_row(to_.shape.changeable, row, count);
    const std::uint64_t base = piece_.first + column_.skip;
    changed_->visit(base + row, base + row + count, [&](std::uint64_t position) {
      append_row(to_.shape.changeable, position - base);
    });
  }

  /// As many bytes are read to where they belong.
  static constexpr std::uint64_t kDirect = std::uint64_t{64} << 10;

  const Column& column_;
  const Piece& piece_;
  const ReadAt& read_;
  const RowMap* map_ = nullptr;
  const RowSet* changed_ = nullptr;
  std::uint64_t second_run_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<RowWindow> windows_;
  Prediction to_;
};

}  // namespace

BytePlan::BytePlan(std::uint64_t old_bytes, std::uint64_t new_bytes, RowMap matches)
    : before({"", store::Dtype::kU8, {old_bytes}, {}, 0, old_bytes, {}, 0}),
      now({"", store::Dtype::kU8, {new_bytes}, {}, 0, new_bytes, {}, 0}) {
  Column column = {};
  column.now = &now;
  column.before = &before;
  column.group = Column::kNoGroup;
  column.rows = new_bytes;
  column.old_rows = old_bytes;
  column.row_bytes = column.old_row_bytes = 1;
  column.positions = std::move(matches);
  plan.columns.push_back(std::move(column));
}

PatchPlan make_plan(const store::Layout& before, const store::Layout& now) {
  return Planner(before, now).make();
}

void settle_columns(PatchPlan& plan) {
  for (Column& column : plan.columns) {
    const bool keyed = column.group != Column::kNoGroup && !plan.groups[column.group].by_position;
    if (column.same) {
      copy_bytes(column);
    } else if (!keyed) {
      go_by_position(column);
    }
  }
}

std::optional<Block> BlockCursor::next() {
  Block block;
  std::uint64_t room = kBlockBytes;
  for (; column_ < plan_.columns.size(); ++column_, row_ = 0) {
    const Column& column = plan_.columns[column_];
    while (row_ < column.rows) {
      if (room < column.row_bytes) return block;
      const std::uint64_t rows = std::min(column.rows - row_, room / column.row_bytes);
      block.pieces.push_back({column_, row_, rows});
      block.is_coded |= column.is_coded();
      room -= rows * column.row_bytes;
      row_ += rows;
    }
  }
  if (block.pieces.empty()) return std::nullopt;
  return block;
}

Prediction predict(const PatchPlan& plan, const Piece& piece, const ReadAt& read, bool all) {
  return Predictor(plan, piece, read, all).make();
}

void fill_keys(const KeyGroup& group, const Piece& piece, Prediction& keys) {
  std::size_t next = 0;
  group.map.rows.visit(0, piece.first, [&](std::uint64_t, std::uint64_t count, std::uint64_t from) {
    if (from == RowMap::kNone) next += count;
  });
  for (const RowRange& range : keys.shape.fresh) {
    std::memcpy(keys.rows.data() + range.begin * sizeof(std::uint32_t),
                group.map.fresh.data() + next, range.count * sizeof(std::uint32_t));
    next += range.count;
  }
}

void append_row(std::vector<RowRange>& ranges, std::uint64_t row, std::uint64_t count) {
  if (count == 0) return;
  if (!ranges.empty() && ranges.back().begin + ranges.back().count == row) {
    ranges.back().count += count;
  } else {
    ranges.push_back({row, count});
  }
}

}  // namespace leveret::patch
