#include "store/notes.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace leveret::store {

std::vector<std::byte> make_notes(std::string_view header_json,
                                  const std::vector<SectionView>& sections) {
  std::vector<std::byte> bytes = make_front(Kind::kNotes, header_json, sections);
  for (const SectionView& section : sections) {
    bytes.resize(bytes.size() + padding_before(section.bytes, bytes.size()));
    for_each_block(section, [&](std::span<const std::byte> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
  }
  bytes.resize(bytes.size() + padding_before(0, bytes.size()));
  if (bytes.size() > Notes::kMaxBytes) throw std::invalid_argument("notes are too long");
  return bytes;
}

Notes::Notes(std::vector<std::byte> bytes, const std::string& path) : bytes_(std::move(bytes)) {
  const std::string name = path + ": notes";
  layout_ = read_layout(bytes_, bytes_.size(), name);
  if (layout_.kind != Kind::kNotes) {
    throw std::runtime_error(path + ": another file follows it, in place of notes; copy it again");
  }
  for (const StoredSection& section : layout_.sections) {
    check_checksum(section, checksum_of(this->bytes(section)), name);
    check_padding(section,
                  std::span(bytes_).subspan(section.offset + section.bytes, section.padding), name);
  }
}

const StoredSection* Notes::find(std::string_view name) const {
  const auto found = std::ranges::find(layout_.sections, name, &StoredSection::name);
  return found == layout_.sections.end() ? nullptr : &*found;
}

}  // namespace leveret::store
