/// Preamble, header and table of a file, as leveret-model(5) describes them: made from sections and
/// read back. Bytes only: no file is opened here. Neither function keeps what it is given, but the
/// Layout points into the bytes that it was read from.
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

/// What a file holds. The numbers are those of the file.
enum class Kind : std::uint32_t { kModel = 1, kExport = 2, kPatch = 3, kCache = 4 };

/// "model", "export", …; "unknown" when `kind` is none of these.
std::string_view kind_name(Kind kind);

constexpr std::uint64_t kPageBytes = 4096;

/// Zero bytes that stand between `offset` and the next page.
constexpr std::uint64_t page_padding(std::uint64_t offset) {
  return (kPageBytes - offset % kPageBytes) % kPageBytes;
}

struct Layout {
  Kind kind;
  std::string_view header_json;
  Checksum fingerprint;               ///< of preamble, header and table, hence of all content
  std::vector<SectionView> sections;  ///< in the order of the file
  std::vector<Checksum> checksums;    ///< one per section, not verified yet
};

/// The first pages of a file with these sections, up to where the first section begins. Reads all
/// bytes of the sections for their checksums. std::invalid_argument for what no file may hold (a
/// name twice, a shape that is not the length): a bug of the caller.
std::vector<std::byte> make_front(Kind kind, std::string_view header_json,
                                  std::span<const SectionView> sections);

/// Checks everything but the bytes of the sections, and trusts nothing: std::runtime_error says
/// what is wrong at which byte of `path`. Takes memory in proportion to the table that is there.
Layout read_layout(std::span<const std::byte> file, const std::string& path);

/// Checks the bytes of section `index`, and that the rest of its last page is zero.
void verify_section(std::span<const std::byte> file, const Layout& layout, std::size_t index,
                    const std::string& path);

}  // namespace leveret::store
