// Every number of the file is taken for a lie until it is compared with what is there. The order of
// the checks is that of the messages: what it is, whether it is all there, whether it is damaged,
// and only then what it says.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "store/declarations.h"
#include "store/layout.h"
#include "store/layout_bytes.h"

namespace leveret::store {
namespace {

constexpr const char* kDamaged = "copy it again, or go back to an older one";
constexpr const char* kNewer = "it was made by a newer leveret: update this one";

[[noreturn]] void refuse(const std::string& path, std::uint64_t offset, const std::string& what,
                         const char* remedy) {
  throw std::runtime_error(fmt::format("{}: byte {}: {}; {}", path, offset, what, remedy));
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

Checksum get_checksum(std::span<const std::byte> bytes, std::size_t offset) {
  return {get<std::uint64_t>(bytes, offset), get<std::uint64_t>(bytes, offset + 8)};
}

/// Sizes of the parts before the first section; all lie inside the file.
struct Front {
  std::uint64_t header_bytes, table, sections, end;
};

void check_identity(std::span<const std::byte> file, const std::string& path) {
  const std::size_t common = std::min(file.size(), kMagic.size());
  if (file.empty()) refuse(path, 0, "the file is empty", kDamaged);
  if (file.size() >= kPatchMagic.size() &&
      std::memcmp(file.data(), kPatchMagic.data(), kPatchMagic.size()) == 0) {
    refuse(path, 0, "this is a patch", "make a file of it and its base first (leveret patch)");
  }
  if (std::memcmp(file.data(), kMagic.data(), common) != 0) {
    refuse(path, 0, "this is no file of leveret", "check the name");
  }
  if (file.size() < preamble::kBytes) {
    refuse(path, file.size(), "the file ends inside its preamble", kDamaged);
  }
  const auto version = get<std::uint32_t>(file, preamble::kVersion);
  if (version == 0) refuse(path, preamble::kVersion, "it has no version", kDamaged);
  if (version > kVersion) {
    refuse(path, preamble::kVersion, fmt::format("version {} of the format is not known", version),
           kNewer);
  }
  const auto flags = get<std::uint64_t>(file, preamble::kFlags);
  if ((flags & ~kKnownFlags) != 0) {
    refuse(path, preamble::kFlags, fmt::format("feature flags {:#x} are not known", flags), kNewer);
  }
}

void check_length(std::span<const std::byte> start, std::uint64_t file_bytes,
                  const std::string& path) {
  const auto bytes = get<std::uint64_t>(start, preamble::kFileBytes);
  if (bytes > file_bytes) {
    refuse(path, file_bytes, fmt::format("the file ends here, but should have {} bytes", bytes),
           kDamaged);
  }
  if (bytes < file_bytes) {
    refuse(path, bytes,
           fmt::format("the file should end here, but {} bytes follow", file_bytes - bytes),
           kDamaged);
  }
}

/// Sizes that fit into the file.
Front measure_front(std::span<const std::byte> start, std::uint64_t file_bytes,
                    const std::string& path) {
  check_identity(start, path);
  check_length(start, file_bytes, path);
  Front front = {};
  front.header_bytes = get<std::uint64_t>(start, preamble::kHeaderBytes);
  front.sections = get<std::uint32_t>(start, preamble::kSections);
  const std::uint64_t room = file_bytes - preamble::kBytes;
  if (front.header_bytes > room) {
    refuse(path, preamble::kHeaderBytes,
           fmt::format("a header of {} bytes does not fit into the file", front.header_bytes),
           kDamaged);
  }
  front.table = (preamble::kBytes + front.header_bytes + 7) / 8 * 8;
  if (front.table > file_bytes || front.sections > (file_bytes - front.table) / entry::kBytes) {
    refuse(path, preamble::kSections,
           fmt::format("a table of {} sections does not fit into the file", front.sections),
           kDamaged);
  }
  front.end = front.table + front.sections * entry::kBytes;
  if (page_padding(front.end) > file_bytes - front.end) {
    refuse(path, file_bytes, "the file ends inside the page of its table", kDamaged);
  }
  return front;
}

void check_front(std::span<const std::byte> file, const Front& front, const std::string& path) {
  const auto checked = file.subspan(preamble::kChecked, front.end - preamble::kChecked);
  if (checksum_of(checked) != get_checksum(file, preamble::kChecksum)) {
    refuse(path, preamble::kChecksum, "header and table do not have their checksum", kDamaged);
  }
  const std::uint64_t header_end = preamble::kBytes + front.header_bytes;
  if (!all_zero(file.subspan(preamble::kReserved, 4)) ||
      !all_zero(file.subspan(header_end, front.table - header_end))) {
    refuse(path, preamble::kReserved, "bytes around the header are not zero", kDamaged);
  }
  if (!all_zero(file.subspan(front.end, page_padding(front.end)))) {
    refuse(path, front.end, "bytes after the table are not zero", kDamaged);
  }
}

std::string_view entry_name(std::span<const std::byte> from) {
  const auto field = from.subspan(entry::kName);
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  const std::size_t end = std::min(text.find('\0'), text.size());
  return all_zero(field.subspan(end)) ? text.substr(0, end) : std::string_view();
}

Declaration read_declaration(std::span<const std::byte> from, std::uint64_t at,
                             std::string_view name, const std::string& path) {
  const auto flags = get<std::uint8_t>(from, entry::kFlags);
  if ((flags & ~(entry::kOptional | entry::kLastKeys)) != 0) {
    refuse(path, at + entry::kFlags,
           fmt::format("flags {:#x} of section '{}' are not known", flags, name), kNewer);
  }
  return {get<Role>(from, entry::kRole),     (flags & entry::kOptional) != 0,
          (flags & entry::kLastKeys) != 0,   get<std::uint32_t>(from, entry::kKeys),
          get<Coding>(from, entry::kCoding), get<float>(from, entry::kScale)};
}

/// The section of one entry, which comes behind what ends at `end`.
StoredSection read_entry(std::span<const std::byte> front, std::uint64_t at, std::uint64_t end,
                         std::uint64_t file_bytes, const std::string& path) {
  const auto from = front.subspan(at, entry::kBytes);
  const std::string_view name = entry_name(from);
  if (!valid_section_name(name)) {
    refuse(path, at + entry::kName, "the name of a section is not valid", kDamaged);
  }
  const auto dtype = get<Dtype>(from, entry::kDtype);
  if (dtype_bits(dtype) == 0) {
    refuse(path, at + entry::kDtype,
           fmt::format("type {} of section '{}' is not known", static_cast<unsigned>(dtype), name),
           kNewer);
  }
  const auto rank = get<std::uint8_t>(from, entry::kRank);
  if (rank > kMaxRank || !all_zero(from.subspan(entry::kReserved, 3)) ||
      !all_zero(from.subspan(entry::kShape + 8 * rank, 8 * (kMaxRank - rank)))) {
    refuse(path, at + entry::kRank, fmt::format("the shape of section '{}' is not valid", name),
           kDamaged);
  }
  std::vector<std::uint64_t> shape(rank);
  for (std::size_t i = 0; i < rank; ++i) shape[i] = get<std::uint64_t>(from, entry::kShape + 8 * i);
  const Declaration declared = read_declaration(from, at, name, path);
  if (const char* const fault = coding_fault(dtype, declared)) {
    refuse(path, at, fmt::format("section '{}' is not valid: {}", name, fault), kNewer);
  }
  const auto bytes = get<std::uint64_t>(from, entry::kLength);
  if (array_bytes(dtype, shape) != bytes) {
    refuse(path, at + entry::kLength,
           fmt::format("the {} bytes of section '{}' are not those of its shape", bytes, name),
           kDamaged);
  }
  const std::uint64_t padding = padding_before(bytes, end), offset = end + padding;
  if (padding > file_bytes - end || get<std::uint64_t>(from, entry::kOffset) != offset ||
      bytes > file_bytes - offset) {
    refuse(path, at + entry::kOffset,
           fmt::format("section '{}' does not lie at byte {} and inside the file", name, offset),
           kDamaged);
  }
  return {std::string(name),
          dtype,
          std::move(shape),
          declared,
          offset,
          bytes,
          get_checksum(from, entry::kChecksum)};
}

void check_relations(const std::vector<StoredSection>& sections, const SectionNumbers& numbers,
                     std::uint64_t table, const std::string& path) {
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (const char* const fault = relation_fault(sections, i, numbers)) {
      refuse(path, table + i * entry::kBytes,
             fmt::format("section '{}' is not valid: {}", sections[i].name, fault), kDamaged);
    }
  }
}

}  // namespace

std::uint64_t front_bytes(std::span<const std::byte> start, std::uint64_t file_bytes,
                          const std::string& path) {
  const std::uint64_t end = measure_front(start, file_bytes, path).end;
  return end + page_padding(end);
}

std::uint64_t model_bytes(std::span<const std::byte> start) {
  if (start.size() < preamble::kBytes ||
      std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0 ||
      get<Kind>(start, preamble::kKind) != Kind::kModel) {
    return 0;
  }
  return get<std::uint64_t>(start, preamble::kFileBytes);
}

Layout read_layout(std::span<const std::byte> file, std::uint64_t file_bytes,
                   const std::string& path) {
  const Front front = measure_front(file, file_bytes, path);
  check_front(file, front, path);

  Layout layout;
  layout.kind = get<Kind>(file, preamble::kKind);
  if (kind_name(layout.kind) == "unknown") {
    refuse(path, preamble::kKind, "its kind is not known", kNewer);
  }
  layout.header_json = {reinterpret_cast<const char*>(file.data()) + preamble::kBytes,
                        front.header_bytes};
  layout.fingerprint = get_checksum(file, preamble::kChecksum);
  layout.sections.reserve(front.sections);
  SectionNumbers numbers;
  std::uint64_t end = front.end + page_padding(front.end);
  for (std::uint64_t i = 0; i < front.sections; ++i) {
    const std::uint64_t at = front.table + i * entry::kBytes;
    const StoredSection& section =
        layout.sections.emplace_back(read_entry(file, at, end, file_bytes, path));
    if (!numbers.emplace(section.name, i).second) {
      refuse(path, at + entry::kName, fmt::format("section '{}' is there twice", section.name),
             kDamaged);
    }
    if (i > 0) layout.sections[i - 1].padding = section.offset - end;
    end = section.offset + section.bytes;
  }
  const std::uint64_t padding = padding_before(0, end);
  if (padding != file_bytes - end) {
    refuse(path, end, "more or fewer bytes follow the last section than there are to be", kDamaged);
  }
  if (!layout.sections.empty()) layout.sections.back().padding = padding;
  check_relations(layout.sections, numbers, front.table, path);
  return layout;
}

void check_checksum(const StoredSection& section, const Checksum& actual, const std::string& path) {
  if (actual == section.checksum) return;
  refuse(path, section.offset,
         fmt::format("the {} bytes of section '{}' do not have their checksum", section.bytes,
                     section.name),
         kDamaged);
}

void check_padding(const StoredSection& section, std::span<const std::byte> padding,
                   const std::string& path) {
  if (all_zero(padding)) return;
  refuse(path, section.offset + section.bytes,
         fmt::format("bytes after section '{}' are not zero", section.name), kDamaged);
}

}  // namespace leveret::store
