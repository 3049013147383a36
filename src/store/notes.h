/// Notes about a model beside its content: a container of kind notes behind it in the file
/// (leveret-model(5), NOTES). The fingerprint, exports and patches do not see it: models that have
/// learned the same are equal, whatever is noted of how they came to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/layout.h"
#include "store/section.h"

namespace leveret::store {

/// The bytes of such a container. std::invalid_argument as for make_front, and where they would be
/// more than Notes::kMaxBytes.
std::vector<std::byte> make_notes(std::string_view header_json,
                                  const std::vector<SectionView>& sections);

/// Notes that were read from a file: they are in memory as a whole, and verified.
class Notes {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;

  /// std::runtime_error, which names the notes of `path`, where the bytes are not what make_notes
  /// makes.
  Notes(std::vector<std::byte> bytes, const std::string& path);

  std::string_view header_json() const { return layout_.header_json; }
  /// Null where there is none of this name.
  const StoredSection* find(std::string_view name) const;
  /// Those of a section of these notes.
  std::span<const std::byte> bytes(const StoredSection& section) const {
    return std::span(bytes_).subspan(section.offset, section.bytes);
  }
  /// All of them.
  std::uint64_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  Layout layout_;
};

}  // namespace leveret::store
