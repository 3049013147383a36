#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "store/declarations.h"
#include "store/layout.h"
#include "store/layout_bytes.h"

namespace leveret::store {
namespace {

[[noreturn]] void refuse(const SectionView& section, const char* what) {
  throw std::invalid_argument(fmt::format("section '{}' cannot be saved: {}", section.name, what));
}

void check_sections(const std::vector<SectionView>& sections) {
  if (sections.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("a file cannot hold as many sections");
  }
  SectionNumbers numbers;
  for (const SectionView& section : sections) {
    if (!valid_section_name(section.name)) refuse(section, "its name is not valid");
    if (!numbers.emplace(section.name, numbers.size()).second) {
      refuse(section, "another one has the same name");
    }
    if (dtype_bits(section.dtype) == 0) refuse(section, "its type is not known");
    if (section.shape.size() > kMaxRank) refuse(section, "it has too many dimensions");
    if (array_bytes(section.dtype, section.shape) != section.bytes) {
      refuse(section, "its shape does not give its length");
    }
    if (section.data == nullptr && section.bytes != 0 && section.open == nullptr)
      refuse(section, "it has no bytes");
    if (const char* const fault = coding_fault(section.dtype, section.declared)) {
      refuse(section, fault);
    }
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (const char* const fault = relation_fault(sections, i, numbers)) refuse(sections[i], fault);
  }
}

void put_checksum(std::span<std::byte> bytes, std::size_t offset, const Checksum& checksum) {
  put(bytes, offset, checksum.low);
  put(bytes, offset + 8, checksum.high);
}

void put_entry(std::span<std::byte> to, const SectionView& section, std::uint64_t offset,
               const Checksum& checksum) {
  put(to, entry::kOffset, offset);
  put(to, entry::kLength, section.bytes);
  put_checksum(to, entry::kChecksum, checksum);
  put(to, entry::kDtype, static_cast<std::uint8_t>(section.dtype));
  put(to, entry::kRank, static_cast<std::uint8_t>(section.shape.size()));
  const Declaration& declared = section.declared;
  const unsigned flags =
      (declared.optional ? entry::kOptional : 0u) | (declared.last_keys ? entry::kLastKeys : 0u);
  put(to, entry::kRole, static_cast<std::uint8_t>(declared.role));
  put(to, entry::kFlags, static_cast<std::uint8_t>(flags));
  put(to, entry::kKeys, declared.keys);
  for (std::size_t i = 0; i < section.shape.size(); ++i) {
    put(to, entry::kShape + 8 * i, section.shape[i]);
  }
  put(to, entry::kScale, declared.scale);
  put(to, entry::kCoding, static_cast<std::uint8_t>(declared.coding));
  std::memcpy(to.subspan(entry::kName).data(), section.name.data(), section.name.size());
}

}  // namespace

std::vector<std::byte> make_front(Kind kind, std::string_view header_json,
                                  const std::vector<SectionView>& sections) {
  check_sections(sections);
  std::vector<Checksum> checksums;
  for (const SectionView& section : sections) {
    Checksummer checksum;
    for_each_block(section, [&](std::span<const std::byte> part) { checksum.add(part); });
    checksums.push_back(checksum.get());
  }
  return make_front(kind, header_json, sections, checksums);
}

std::vector<std::byte> make_front(Kind kind, std::string_view header_json,
                                  const std::vector<SectionView>& sections,
                                  std::span<const Checksum> checksums) {
  check_sections(sections);
  const std::size_t table = (preamble::kBytes + header_json.size() + 7) / 8 * 8;
  const std::size_t end = table + sections.size() * entry::kBytes;
  std::vector<std::byte> front(end + page_padding(end));

  std::uint64_t offset = front.size();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    offset += padding_before(sections[i].bytes, offset);
    put_entry(std::span(front).subspan(table + i * entry::kBytes, entry::kBytes), sections[i],
              offset, checksums[i]);
    offset += sections[i].bytes;
  }
  offset += padding_before(0, offset);
  std::memcpy(front.data(), kMagic.data(), kMagic.size());
  put(std::span(front), preamble::kVersion, kVersion);
  put(std::span(front), preamble::kKind, static_cast<std::uint32_t>(kind));
  put(std::span(front), preamble::kFlags, kKnownFlags);
  put(std::span(front), preamble::kFileBytes, offset);
  put(std::span(front), preamble::kHeaderBytes, std::uint64_t{header_json.size()});
  put(std::span(front), preamble::kSections, static_cast<std::uint32_t>(sections.size()));
  std::ranges::copy(std::as_bytes(std::span(header_json)), front.begin() + preamble::kBytes);
  const auto checked = std::span(front).subspan(preamble::kChecked, end - preamble::kChecked);
  put_checksum(front, preamble::kChecksum, checksum_of(checked));
  return front;
}

}  // namespace leveret::store
