#include "patch/patch_records.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "patch/byte_coder.h"
#include "patch/plane_coder.h"

namespace leveret::patch {
namespace {

std::vector<std::byte> compress(std::span<const std::byte> bytes, int level) {
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

/// `size`: what there must be, no more than the caller can hold.
std::vector<std::byte> decompress(std::span<const std::byte> packed, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const std::size_t got = ZSTD_decompress(bytes.data(), size, packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) throw CorruptCode();
  return bytes;
}

/// A table takes no more memory than this for a record of `bytes` bytes; one that is compressed
/// further is written as it is.
std::uint64_t largest_table(std::uint64_t bytes) { return 64 * bytes + (64 << 10); }

constexpr int kTableLevel = 19;  // tables are small
constexpr int kPlanesLevel = 1;  // planes are what is done where there is too much for more

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::uint64_t count(const std::vector<RowRange>& ranges) {
  std::uint64_t rows = 0;
  for (const RowRange& range : ranges) rows += range.count;
  return rows;
}

/// The models of the columns of a kind, within one record.
class ModelsByKind {
 public:
  ColumnModels& of(const Column& column) {
    std::unique_ptr<ColumnModels>& models = by_kind_[column.kind];
    if (models == nullptr) models = std::make_unique<ColumnModels>();
    return *models;
  }

 private:
  std::unordered_map<std::string_view, std::unique_ptr<ColumnModels>> by_kind_;
};

bool has_codes(const PieceSummary& piece) { return piece.changes > 0 || piece.fresh_rows > 0; }

void put_summary(std::vector<std::byte>& to, const PieceSummary& piece) {
  put_number(to, piece.column);
  put_number(to, piece.changes);
  put_number(to, piece.fresh_rows);
  if (has_codes(piece)) put_number(to, piece.bytes);
}

std::vector<PieceSummary> read_summaries(NumberReader& numbers) {
  const std::uint64_t pieces = numbers.next();
  std::vector<PieceSummary> list;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    PieceSummary piece;
    piece.column = numbers.next();
    piece.changes = numbers.next();
    piece.fresh_rows = numbers.next();
    if (has_codes(piece)) piece.bytes = numbers.next();
    list.push_back(piece);
  }
  return list;
}

/// A piece that is to be written.
struct PieceChange {
  const Column* column;
  Prediction before;
  std::vector<std::byte> now;
  PieceSummary summary;
};

std::vector<PieceChange> find_changes(const PatchPlan& plan, const Block& block,
                                      const ReadAt& before, const ReadPiece& now) {
  std::vector<PieceChange> changes;
  for (const Piece& piece : block.pieces) {
    const Column& column = plan.columns[piece.column];
    if (!column.is_coded()) continue;
    PieceChange change = {&column, predict(plan, piece, before, false), now(piece), {}};
    change.summary = {
        piece.column,
        count_changes(change.before.shape, change.before.rows.data(), change.now.data()),
        count(change.before.shape.fresh), 0};
    changes.push_back(std::move(change));
  }
  return changes;
}

/// Where nearly all is new, as in sections that were not there: coding it with care takes ten times
/// as long.
bool is_mostly_new(const std::vector<PieceChange>& pieces) {
  constexpr std::uint64_t kFew = 64 << 10;
  std::uint64_t all = 0, changed = 0;
  for (const PieceChange& piece : pieces) {
    all += piece.now.size();
    with_width(piece.column->now->dtype,
               [&]<class T>(T) { changed += piece.summary.changes * sizeof(T); });
    changed += piece.summary.fresh_rows * piece.column->row_bytes;
  }
  return changed > kFew && changed > all * 9 / 10;
}

std::vector<std::byte> write_planes(std::vector<PieceChange>& pieces) {
  std::size_t bytes = 0;
  for (const PieceChange& piece : pieces) bytes += piece.now.size();
  std::vector<std::byte> planes(bytes);
  std::byte* to = planes.data();
  for (const PieceChange& piece : pieces) {
    with_width(piece.column->now->dtype,
               [&]<class T>(T) { split_planes<T>(piece.before.rows, piece.now, to); });
    to += piece.now.size();
  }
  std::vector<std::byte> packed = compress(planes, kPlanesLevel);
  for (PieceChange& piece : pieces) {
    if (has_codes(piece.summary)) piece.summary.bytes = packed.size() * piece.now.size() / bytes;
  }
  return packed;
}

std::vector<std::byte> write_codes(std::vector<PieceChange>& pieces) {
  ModelsByKind models;
  RangeEncoder coder;
  std::size_t done = 0;
  bool any = false;
  for (PieceChange& piece : pieces) {
    if (!has_codes(piece.summary)) continue;
    any = true;
    write_piece(coder, models.of(*piece.column), piece.before.shape, piece.summary.changes,
                piece.before.rows.data(), piece.now.data());
    piece.summary.bytes = coder.size() - done;
    done = coder.size();
  }
  return any ? coder.finish() : std::vector<std::byte>();
}

/// The rows of a piece as far as they follow without codes.
Prediction known_rows(const PatchPlan& plan, const Piece& piece, const ReadAt& before) {
  Prediction rows = predict(plan, piece, before, false);
  const Column& column = plan.columns[piece.column];
  if (column.is_keys) fill_keys(plan.groups[column.group], piece, rows);
  return rows;
}

/// The codes of a block, piece after piece.
class BlockReader {
 public:
  BlockReader(const PatchPlan& plan, const Block& block, const Record& record)
      : plan_(plan), block_(block) {
    NumberReader numbers(record.content);
    summaries_ = read_summaries(numbers);
    if (record.type == RecordType::kPlanes) {
      planes_ = decompress(numbers.rest(), coded_bytes());
      plane_ = planes_.data();
    } else if (std::ranges::any_of(summaries_, has_codes)) {
      coder_.emplace(numbers.rest());
    } else if (!numbers.rest().empty()) {
      throw CorruptCode();
    }
  }

  std::vector<std::vector<std::byte>> read(const ReadAt& before) {
    std::vector<std::vector<std::byte>> result;
    for (const Piece& piece : block_.pieces) {
      Prediction rows = known_rows(plan_, piece, before);
      if (plan_.columns[piece.column].is_coded()) read_codes(piece, rows);
      result.push_back(std::move(rows.rows));
    }
    if (next_ != summaries_.size()) throw CorruptCode();
    if (coder_) coder_->finish();
    return result;
  }

 private:
  std::uint64_t coded_bytes() const {
    std::uint64_t bytes = 0;
    for (const Piece& piece : block_.pieces) {
      const Column& column = plan_.columns[piece.column];
      if (column.is_coded()) bytes += piece.rows * column.row_bytes;
    }
    return bytes;
  }

  void read_codes(const Piece& piece, Prediction& rows) {
    const Column& column = plan_.columns[piece.column];
    if (next_ == summaries_.size()) throw CorruptCode();
    const PieceSummary& summary = summaries_[next_++];
    if (summary.column != piece.column || summary.fresh_rows != count(rows.shape.fresh)) {
      throw CorruptCode();
    }
    if (plane_ != nullptr) {
      with_width(column.now->dtype, [&]<class T>(T) { join_planes<T>(plane_, rows.rows); });
      plane_ += rows.rows.size();
    } else if (has_codes(summary)) {
      read_piece(*coder_, models_.of(column), rows.shape, summary.changes, rows.rows.data());
    }
  }

  const PatchPlan& plan_;
  const Block& block_;
  std::vector<PieceSummary> summaries_;
  std::size_t next_ = 0;
  std::vector<std::byte> planes_;
  const std::byte* plane_ = nullptr;  ///< of the next piece; null without planes
  std::optional<RangeDecoder> coder_;
  ModelsByKind models_;
};

}  // namespace

std::vector<std::byte> write_table(std::span<const std::byte> front) {
  std::vector<std::byte> content;
  put_number(content, front.size());
  const std::vector<std::byte> packed = compress(front, kTableLevel);
  const bool plain = front.size() > largest_table(packed.size());
  content.push_back(static_cast<std::byte>(plain ? 1 : 0));
  append(content, plain ? front : std::span<const std::byte>(packed));
  return content;
}

std::vector<std::byte> read_table(std::span<const std::byte> content) {
  NumberReader numbers(content);
  const std::uint64_t size = numbers.next(), plain = numbers.next();
  const std::span<const std::byte> rest = numbers.rest();
  if (plain > 1) throw CorruptCode();
  if (plain == 1 && rest.size() != size) throw CorruptCode();
  if (plain == 1) return {rest.begin(), rest.end()};
  if (size > largest_table(rest.size())) throw CorruptCode();
  return decompress(rest, size);
}

std::vector<std::byte> write_keys(const KeyGroup& group, std::uint64_t old_keys,
                                  const KeyChange* change) {
  std::vector<std::byte> content;
  put_number(content, group.section);
  put_number(content, change == nullptr ? 1 : 0);
  if (change == nullptr) return content;
  std::uint64_t deleted = 0, moved = 0, changed = 0;
  for (const auto& run : change->gone) {
    for (const KeyChange::Gone& gone : run) ++(gone.moved ? moved : deleted);
  }
  const std::uint64_t keys = group.map.rows.rows();
  group.changed.visit(0, keys, [&](std::uint64_t) { ++changed; });
  for (const std::uint64_t number :
       {old_keys, deleted, moved, std::uint64_t{group.map.fresh.size()}, changed}) {
    put_number(content, number);
  }
  RangeEncoder coder;
  write_change(coder, *change);
  write_rows(coder, group.changed, keys);
  append(content, coder.finish());
  return content;
}

KeysSummary read_keys_summary(std::span<const std::byte> content) {
  NumberReader numbers(content);
  KeysSummary keys;
  keys.column = numbers.next();
  const std::uint64_t by_position = numbers.next();
  if (by_position > 1) throw CorruptCode();
  keys.by_position = by_position == 1;
  if (keys.by_position) return keys;
  keys.old_keys = numbers.next();
  keys.deleted = numbers.next();
  keys.moved = numbers.next();
  keys.inserted = numbers.next();
  keys.changed = numbers.next();
  return keys;
}

void read_keys(std::span<const std::byte> content, std::span<const std::uint32_t> before,
               KeyGroup& group) {
  const KeysSummary keys = read_keys_summary(content);
  if (keys.column != group.section) throw CorruptCode();
  NumberReader numbers(content);
  for (int i = 0; i < (keys.by_position ? 2 : 7); ++i) numbers.next();
  group.by_position = keys.by_position;
  if (keys.by_position) {
    if (!numbers.rest().empty()) throw CorruptCode();
    return;
  }
  if (keys.old_keys != before.size()) throw CorruptCode();
  RangeDecoder coder(numbers.rest());
  const KeyChange change =
      read_change(coder, static_cast<std::uint32_t>(before.size()), numbers.rest().size());
  group.first_run = change.first_run;
  group.map = apply_change(before, change);
  if (group.map.fresh.size() != keys.inserted) throw CorruptCode();
  group.changed = read_rows(coder, group.map.rows.rows());
  coder.finish();
}

std::vector<std::byte> write_matches(const RowMap& matches) {
  std::vector<std::byte> content;
  std::uint64_t next = 0;
  matches.visit(0, matches.rows(), [&](std::uint64_t, std::uint64_t count, std::uint64_t from) {
    put_number(content, count);
    // 0: from nowhere; else 1 + how far from where the bytes before came from ended.
    const std::uint64_t jump = from - next;
    put_number(content, from == RowMap::kNone ? 0 : 1 + (jump << 1 ^ -(jump >> 63)));
    next = from == RowMap::kNone ? next + count : from + count;
  });
  return content;
}

RowMap read_matches(std::span<const std::byte> content, std::uint64_t old_bytes,
                    std::uint64_t new_bytes) {
  NumberReader numbers(content);
  RowMap matches;
  std::uint64_t next = 0;
  while (matches.rows() < new_bytes) {
    const std::uint64_t count = numbers.next(), jump = numbers.next();
    if (count == 0 || count > new_bytes - matches.rows()) throw CorruptCode();
    std::uint64_t from = RowMap::kNone;
    if (jump > 0) {
      from = next + ((jump - 1) >> 1 ^ -((jump - 1) & 1));
      if (from > old_bytes || count > old_bytes - from) throw CorruptCode();
    }
    matches.append(count, from);
    next = (jump > 0 ? from : next) + count;
  }
  if (!numbers.rest().empty()) throw CorruptCode();
  return matches;
}

Record write_block(const PatchPlan& plan, const Block& block, const ReadAt& before,
                   const ReadPiece& now) {
  std::vector<PieceChange> pieces = find_changes(plan, block, before, now);
  const bool planes = is_mostly_new(pieces);
  const std::vector<std::byte> codes = planes ? write_planes(pieces) : write_codes(pieces);
  Record record = {planes ? RecordType::kPlanes : RecordType::kRows, {}, 0};
  put_number(record.content, pieces.size());
  for (const PieceChange& piece : pieces) put_summary(record.content, piece.summary);
  append(record.content, codes);
  return record;
}

std::vector<PieceSummary> read_block_summary(std::span<const std::byte> content) {
  NumberReader numbers(content);
  return read_summaries(numbers);
}

std::vector<std::vector<std::byte>> read_block(const PatchPlan& plan, const Block& block,
                                               const ReadAt& before, const Record& record) {
  if (!block.is_coded) {
    std::vector<std::vector<std::byte>> result;
    for (const Piece& piece : block.pieces) result.push_back(known_rows(plan, piece, before).rows);
    return result;
  }
  return BlockReader(plan, block, record).read(before);
}

}  // namespace leveret::patch
