#include <algorithm>
#include <cstring>
#include <optional>

#include "patch/byte_match.h"
#include "patch/in_order.h"
#include "patch/patch.h"
#include "store/plain_file.h"

namespace leveret::patch {
namespace {

std::vector<std::uint32_t> read_list(const store::ModelFile& file,
                                     const store::StoredSection* section) {
  if (section == nullptr) return {};
  std::vector<std::uint32_t> keys(section->bytes / sizeof(std::uint32_t));
  file.read(*section, reinterpret_cast<std::byte*>(keys.data()));
  return keys;
}

/// Reads every byte of both, so that no patch leads from or to a damaged file.
void verify(const store::ModelFile& before, const store::ModelFile& now, unsigned threads) {
  const std::size_t old_sections = before.sections().size();
  for_each_in_order(
      old_sections + now.sections().size(), threads,
      [&](std::size_t i) {
        if (i < old_sections) {
          before.verify(before.sections()[i]);
        } else {
          now.verify(now.sections()[i - old_sections]);
        }
        return true;
      },
      [](std::size_t, bool) {});
}

/// Numbers of the rows that differ from what they were.
std::vector<std::uint32_t> changed_rows(const Prediction& before,
                                        const std::vector<std::byte>& now) {
  // Most runs of rows are equal, and compared as a whole.
  constexpr std::uint64_t kTogether = 64;
  const std::uint64_t bytes = before.shape.row_bytes;
  const auto differ = [&](std::uint64_t row, std::uint64_t rows) {
    return std::memcmp(before.rows.data() + row * bytes, now.data() + row * bytes, rows * bytes) !=
           0;
  };
  std::vector<std::uint32_t> changed;
  for (const RowRange& range : before.shape.changeable) {
    const std::uint64_t end = range.begin + range.count;
    for (std::uint64_t row = range.begin; row < end; row += kTogether) {
      const std::uint64_t rows = std::min(kTogether, end - row);
      if (!differ(row, rows)) continue;
      for (std::uint64_t r = row; r < row + rows; ++r) {
        if (differ(r, 1)) changed.push_back(static_cast<std::uint32_t>(r));
      }
    }
  }
  return changed;
}

class PatchMaker {
 public:
  PatchMaker(const store::ModelFile& before, const store::ModelFile& now, unsigned threads)
      : before_(before), now_(now), threads_(threads) {
    read_old_ = [this](std::uint64_t at, std::span<std::byte> to) { before_.read_at(at, to); };
  }

  void make(PatchWriter& writer, PatchReport* report) {
    verify(before_, now_, threads_);
    writer.write(RecordType::kTable, write_table(now_.front()));
    plan_ = make_plan(before_.layout(), now_.layout());
    find_key_changes();
    settle_columns(plan_);
    find_changed_rows();
    write_groups(writer);
    write_blocks(writer);
    if (report != nullptr) measure(*report);
    before_.check_unchanged();
    now_.check_unchanged();
  }

 private:
  void find_key_changes() {
    changes_.resize(plan_.groups.size());
    for_each_in_order(
        plan_.groups.size(), threads_,
        [&](std::size_t i) {
          KeyGroup& group = plan_.groups[i];
          const auto old_keys = read_list(before_, group.before);
          const auto new_keys = read_list(now_, &now_.sections()[group.section]);
          changes_[i] = find_change(old_keys, new_keys);
          group.by_position = !changes_[i];
          if (group.by_position) return true;
          group.first_run = changes_[i]->first_run;
          group.map = apply_change(old_keys, *changes_[i]);
          group.changed = RowSet(new_keys.size());
          return true;
        },
        [](std::size_t, bool) {});
  }

  std::vector<std::byte> new_rows(const Piece& piece) const {
    const Column& column = plan_.columns[piece.column];
    std::vector<std::byte> rows(piece.rows * column.row_bytes);
    now_.read_at(column.now->offset + piece.first * column.row_bytes, rows);
    return rows;
  }

  /// Rows of a piece, by their number in it.
  struct ChangedRows {
    Piece piece;
    std::vector<std::uint32_t> rows;
  };

  void find_changed_rows() {
    BlockCursor blocks(plan_);
    in_order(
        threads_, [&] { return blocks.next(); },
        [&](const Block& block) {
          std::vector<ChangedRows> changed;
          for (const Piece& piece : block.pieces) {
            const Column& column = plan_.columns[piece.column];
            if (!column.is_coded() || column.group == Column::kNoGroup) continue;
            changed.push_back(
                {piece, changed_rows(predict(plan_, piece, read_old_, true), new_rows(piece))});
          }
          return changed;
        },
        [&](const std::vector<ChangedRows>& changed) {
          for (const auto& [piece, rows] : changed) {
            const Column& column = plan_.columns[piece.column];
            RowSet& set = plan_.groups[column.group].changed;
            for (const std::uint32_t row : rows) set.add(column.skip + piece.first + row);
          }
        });
  }

  void write_groups(PatchWriter& writer) {
    for_each_in_order(
        plan_.groups.size(), threads_,
        [&](std::size_t i) {
          const KeyGroup& group = plan_.groups[i];
          const std::uint64_t old_keys = group.before == nullptr ? 0 : group.before->shape[0];
          return write_keys(group, old_keys, changes_[i] ? &*changes_[i] : nullptr);
        },
        [&](std::size_t, const std::vector<std::byte>& content) {
          writer.write(RecordType::kKeys, content);
          key_bytes_ += content.size();
        });
  }

  void write_blocks(PatchWriter& writer) {
    BlockCursor blocks(plan_);
    in_order(
        threads_, [&] { return blocks.next(); },
        [&](const Block& block) {
          if (!block.is_coded) return Record{};
          return write_block(plan_, block, read_old_,
                             [&](const Piece& piece) { return new_rows(piece); });
        },
        [&](const Record& record) {
          if (record.content.empty()) return;  // the block is not coded
          writer.write(record.type, record.content);
          for (const PieceSummary& piece : read_block_summary(record.content)) {
            meter_.add_bytes(plan_.columns[piece.column], piece.bytes);
          }
        });
  }

  void measure(PatchReport& report) {
    BlockCursor blocks(plan_);
    while (const std::optional<Block> block = blocks.next()) {
      for (const Piece& piece : block->pieces) {
        const Column& column = plan_.columns[piece.column];
        if (!column.is_coded()) continue;
        meter_.add(column, predict(plan_, piece, read_old_, false), new_rows(piece));
      }
    }
    report.kinds = meter_.kinds();
    report.key_bytes = key_bytes_;
    for (const KeyGroup& group : plan_.groups) {
      const std::uint64_t keys = group.map.rows.rows();
      std::uint64_t changed = 0;
      group.changed.visit(0, keys, [&](std::uint64_t) { ++changed; });
      report.keys += keys;
      report.changed_rows += changed;
      report.changed_rows_entropy += choice_entropy(changed, keys);
    }
  }

  const store::ModelFile& before_;
  const store::ModelFile& now_;
  unsigned threads_;
  ReadAt read_old_;
  PatchPlan plan_;
  std::vector<std::optional<KeyChange>> changes_;
  EntropyMeter meter_;
  std::uint64_t key_bytes_ = 0;
};

}  // namespace

void make_patch(const store::ModelFile& before, const store::ModelFile& now,
                const PatchNames& names, const std::string& path, unsigned threads,
                PatchReport* report) {
  const PatchFront front = {PatchKind::kSections,
                            {before.fingerprint(), before.bytes(), names.base_sequence},
                            {now.fingerprint(), now.bytes(), names.result_sequence},
                            names.line};
  files::AtomicFile file(path);
  PatchWriter writer(file, front);
  PatchMaker(before, now, threads).make(writer, report);
  writer.end();
  if (report != nullptr) report->patch_bytes = file.size();
  file.commit();
}

void make_byte_patch(const std::string& old_path, const std::string& new_path,
                     const std::string& path, unsigned threads) {
  const store::PlainFile before(old_path), now(new_path);
  const PatchFront front = {
      PatchKind::kBytes, {before.checksum(), before.bytes()}, {now.checksum(), now.bytes()}, {}};
  const ReadAt read_old = [&](std::uint64_t at, std::span<std::byte> to) {
    before.read_at(at, to);
  };
  const ReadAt read_new = [&](std::uint64_t at, std::span<std::byte> to) { now.read_at(at, to); };
  files::AtomicFile file(path);
  PatchWriter writer(file, front);
  const BytePlan bytes(before.bytes(), now.bytes(),
                       match_bytes(read_old, before.bytes(), read_new, now.bytes()));
  writer.write(RecordType::kKeys, write_matches(bytes.plan.columns[0].positions));
  BlockCursor blocks(bytes.plan);
  in_order(
      threads, [&] { return blocks.next(); },
      [&](const Block& block) {
        return write_block(bytes.plan, block, read_old, [&](const Piece& piece) {
          std::vector<std::byte> rows(piece.rows);
          read_new(piece.first, rows);
          return rows;
        });
      },
      [&](const Record& record) { writer.write(record.type, record.content); });
  before.check_unchanged();
  now.check_unchanged();
  writer.end();
  file.commit();
}

}  // namespace leveret::patch
