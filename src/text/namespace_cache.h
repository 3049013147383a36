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
  /// Numbers are wanted from it; where it is the run of a number: its namespace has nothing else.
  bool number = false;
};

/// A known namespace from which no numbers are wanted: its features are all there is to it.
struct PlainNamespace {
  std::uint32_t id = 0;
  std::uint32_t hash = 0;
};

class NamespaceCache {
 public:
  NamespaceCache() : slots_(kFirstSlots) {}

  /// id kUnknown if it was never inserted.
  KnownNamespace find(std::string_view name) const {
    if (name.size() == 1) return letters_[static_cast<unsigned char>(name[0])];
    return slots_[slot_of(name)].known;
  }

  /// The namespace of a name of 1 to 7 bytes, as TextKernels::usual_namespaces writes it; nullptr if
  /// it is not known, or not plain. It may be another one after the next call.
  const PlainNamespace* find_plain(std::uint64_t name) {
    Lately& lately = place_of(name);
    return lately.name == name || find_anew(name, lately) ? &lately.space : nullptr;
  }

  /// `name` must stay where it is for the life of the cache.
  void insert(std::string_view name, KnownNamespace known);

 private:
  static constexpr std::size_t kFirstSlots = 256;  // a power of two

  struct Slot {
    std::string_view name;
    KnownNamespace known;
  };

  /// A name that was looked for lately.
  struct Lately {
    std::uint64_t name = 0;
    PlainNamespace space;
  };

  /// The slot that holds `name`, else the free one where it belongs.
  std::size_t slot_of(std::string_view name) const;
  Lately& place_of(std::uint64_t name) { return lately_[(name * 0x9e3779b97f4a7c15u) >> 56]; }
  bool find_anew(std::uint64_t name, Lately& lately) const;
  void grow();

  std::array<KnownNamespace, 256> letters_;
  std::array<Lately, 256> lately_;  ///< each in its place_of; plain ones only
  std::vector<Slot> slots_;  ///< open addressing, linear probing, at most half full
  std::size_t used_ = 0;
};

}  // namespace leveret::text
