/// Preamble, header and table of a file, as leveret-model(5) describes them: made from sections and
/// read back. Bytes only: no file is opened here. No function keeps what it is given, but the
/// header of a Layout lies in the bytes that it was read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/checksum.h"
#include "store/section.h"

namespace leveret::store {

/// The kind of a file's content. The numbers are those of the file.
enum class Kind : std::uint32_t {
  kModel = 1,
  kExport = 2,
  kPatch = 3,
  kCache = 4,
  kShard = 5,
  kNotes = 6
};

/// "model", "export", …; "unknown" when `kind` is none of these.
std::string_view kind_name(Kind kind);

constexpr std::uint64_t kPageBytes = 4096;

/// Small sections begin on a line, so that many of them cost nothing; large ones on a page, so that
/// they can be mapped.
constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kLargeFrom = std::uint64_t{64} << 10;

/// Zero bytes that stand between `offset` and the next multiple of `unit`.
constexpr std::uint64_t padding_to(std::uint64_t unit, std::uint64_t offset) {
  return (unit - offset % unit) % unit;
}
constexpr std::uint64_t page_padding(std::uint64_t offset) {
  return padding_to(kPageBytes, offset);
}
/// Zero bytes between `end`, of a section or the table, and a section of `bytes` bytes that
/// follows; 0 bytes stand for the end of the file.
constexpr std::uint64_t padding_before(std::uint64_t bytes, std::uint64_t end) {
  return padding_to(bytes >= kLargeFrom ? kPageBytes : kLineBytes, end);
}

/// A section as the table of a file has it.
struct StoredSection {
  std::string name;                  ///< as that of a SectionView
  Dtype dtype;                       ///< of every element
  std::vector<std::uint64_t> shape;  ///< up to kMaxRank dimensions, the slowest first
  Declaration declared;
  std::uint64_t offset;  ///< where it begins in the file: on a line, a large one on a page
  std::uint64_t bytes;
  Checksum checksum;          ///< what its bytes should have
  std::uint64_t padding = 0;  ///< zero bytes between it and the next section or the end
};

struct Layout {
  Kind kind;
  std::string_view header_json;
  Checksum fingerprint;                 ///< of preamble, header and table, hence of all content
  std::vector<StoredSection> sections;  ///< in the order of the file
};

/// The first pages of a file with these sections, up to where the first section begins. Reads all
/// bytes of the sections for their checksums. std::invalid_argument for what no file may hold (a
/// name twice, a shape that is not the length): a bug of the caller.
std::vector<std::byte> make_front(Kind kind, std::string_view header_json,
                                  const std::vector<SectionView>& sections);
/// The same where their checksums are known, one for each: their bytes are not read.
std::vector<std::byte> make_front(Kind kind, std::string_view header_json,
                                  const std::vector<SectionView>& sections,
                                  std::span<const Checksum> checksums);

// All that follows trusts nothing: std::runtime_error says what is wrong at which byte of `path`.

/// How many bytes of a file come before its first section. `start`: its first bytes, those of the
/// preamble at least, or all of a file of `file_bytes` bytes that is shorter.
std::uint64_t front_bytes(std::span<const std::byte> start, std::uint64_t file_bytes,
                          const std::string& path);

/// The length of a model as its first bytes have it, where they are whole and say that it is one;
/// else 0. Nothing is verified.
std::uint64_t model_bytes(std::span<const std::byte> start);

/// Checks everything but the bytes of the sections. `front`: at least the front_bytes of the file.
/// Takes memory in proportion to the table that is there.
Layout read_layout(std::span<const std::byte> front, std::uint64_t file_bytes,
                   const std::string& path);

/// Checks the checksum that the bytes of a section turned out to have.
void check_checksum(const StoredSection& section, const Checksum& actual, const std::string& path);
/// Checks the bytes that follow a section up to the next one: all zero.
void check_padding(const StoredSection& section, std::span<const std::byte> padding,
                   const std::string& path);

}  // namespace leveret::store
