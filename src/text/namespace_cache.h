/// A parser's own memory of the namespaces it has met, in front of the shared NamespaceNames and
/// its lock. Private to src/text; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace leveret::text {

struct KnownNamespace {
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  std::uint32_t id = kUnknown;  ///< in NamespaceNames
  std::uint32_t hash = 0;
};

class NamespaceCache {
 public:
  NamespaceCache() : slots_(kFirstSlots) {}

  /// id kUnknown if it was never inserted.
  const KnownNamespace& of_letter(unsigned char name) const { return letters_[name]; }
  /// The hashes of all one-letter names: 256, of which those never inserted are 0.
  const std::uint32_t* letter_hashes() const { return letter_hashes_.data(); }

  KnownNamespace find(std::string_view name) const {
    if (name.size() == 1) return letters_[static_cast<unsigned char>(name[0])];
    return slots_[slot_of(name)].known;
  }

  /// find() of a name of 1 to kShort bytes, which stand at the low end of `word` with zeros behind.
  static constexpr std::size_t kShort = 7;
  KnownNamespace find_short(std::uint64_t word, std::size_t size);

  /// `name` must stay where it is for the life of the cache.
  void insert(std::string_view name, KnownNamespace known);

 private:
  static constexpr std::size_t kFirstSlots = 256;  // a power of two

  struct Slot {
    std::string_view name;
    KnownNamespace known;
  };

  /// A name that was looked for lately; its size is in the upper byte.
  struct Lately {
    std::uint64_t word = 0;
    KnownNamespace known;
  };

  /// The slot that holds `name`, else the free one where it belongs.
  std::size_t slot_of(std::string_view name) const;
  void grow();

  std::array<KnownNamespace, 256> letters_;
  std::array<std::uint32_t, 256> letter_hashes_{};
  std::array<Lately, 256> lately_;  ///< by the word, of known names
  std::vector<Slot> slots_;  ///< open addressing, linear probing, at most half full
  std::size_t used_ = 0;
};

}  // namespace leveret::text
