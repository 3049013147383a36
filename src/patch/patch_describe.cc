#include <optional>
#include <utility>

#include "patch/patch.h"

namespace leveret::patch {
namespace {

/// Codes of 64-bit types are two of 32.
std::uint64_t codes_of(const store::StoredSection& section) {
  const std::uint64_t bits = store::dtype_bits(section.dtype);
  return section.bytes * 8 / (bits > 32 ? 32 : bits);
}

class Describer {
 public:
  explicit Describer(const std::string& path) : patch_(path) { to_.front = patch_.front(); }

  PatchDescription describe() {
    if (to_.front.kind == PatchKind::kSections) {
      read_new_table();
    } else {
      patch_.next(RecordType::kKeys);
      to_.sections.push_back({"", store::Dtype::kU8, to_.front.result.bytes, 0, 0, 0});
      numbers_.push_back(0);
    }
    read_records();
    to_.bytes = patch_.offset();
    return std::move(to_);
  }

 private:
  void read_new_table() {
    const Record record = patch_.next(RecordType::kTable);
    to_.table_bytes = record.content.size();
    try {
      front_ = read_table(record.content);
    } catch (const CorruptCode&) {
      patch_.refuse(record.offset, "its table cannot be read");
    }
    now_ = store::read_layout(front_, to_.front.result.bytes,
                              patch_.path() + ": in the table of its result");
    to_.header_json = now_.header_json;
    numbers_.assign(now_.sections.size(), kUnseen);
    to_.same_sections = now_.sections.size();
  }

  void read_records() {
    for (;;) {
      const std::optional<Record> record = patch_.next_or_end();
      if (!record) return;
      try {
        if (record->type == RecordType::kKeys) {
          add_keys(*record);
        } else if (record->type == RecordType::kRows || record->type == RecordType::kPlanes) {
          for (const PieceSummary& piece : read_block_summary(record->content)) add(piece);
        } else {
          throw CorruptCode();
        }
      } catch (const CorruptCode&) {
        patch_.refuse(record->offset, "what this record says cannot be");
      }
    }
  }

  void add_keys(const Record& record) {
    const KeysSummary keys = read_keys_summary(record.content);
    if (keys.column >= now_.sections.size()) throw CorruptCode();
    to_.keys.push_back({now_.sections[keys.column].name, keys, record.content.size()});
  }

  void add(const PieceSummary& piece) {
    if (piece.column >= numbers_.size()) throw CorruptCode();
    std::size_t& number = numbers_[piece.column];
    if (number == kUnseen) {
      const store::StoredSection& section = now_.sections[piece.column];
      number = to_.sections.size();
      to_.sections.push_back({section.name, section.dtype, codes_of(section), 0, 0, 0});
      --to_.same_sections;
    }
    PatchDescription::Section& section = to_.sections[number];
    section.changes += piece.changes;
    section.fresh_rows += piece.fresh_rows;
    section.bytes += piece.bytes;
  }

  static constexpr std::size_t kUnseen = ~std::size_t{0};

  PatchReader patch_;
  std::vector<std::byte> front_;
  store::Layout now_ = {};
  std::vector<std::size_t> numbers_;  ///< of a section in the description
  PatchDescription to_;
};

}  // namespace

PatchDescription describe_patch(const std::string& path) { return Describer(path).describe(); }

}  // namespace leveret::patch
