#include "text/namespace_cache.h"

#include <cstring>
#include <utility>

#include "text/hash.h"

namespace leveret::text {

std::size_t NamespaceCache::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = murmur3(name, 0) & mask;
  while (slots_[at].known.id != KnownNamespace::kUnknown && slots_[at].name != name) {
    at = (at + 1) & mask;
  }
  return at;
}

KnownNamespace NamespaceCache::find_short(std::uint64_t word, std::size_t size) {
  if (size == 1) return letters_[word];
  const std::uint64_t key = word | std::uint64_t{size} << 56;
  Lately& lately = lately_[(key * 0x9e3779b97f4a7c15u) >> 56];
  if (lately.word != key) {
    char name[sizeof word];
    std::memcpy(name, &word, sizeof word);
    const KnownNamespace known = find({name, size});
    if (known.id == KnownNamespace::kUnknown) return known;
    lately = {key, known};
  }
  return lately.known;
}

void NamespaceCache::insert(std::string_view name, KnownNamespace known) {
  if (name.size() == 1) {
    letters_[static_cast<unsigned char>(name[0])] = known;
    letter_hashes_[static_cast<unsigned char>(name[0])] = known.hash;
    return;
  }
  Slot& slot = slots_[slot_of(name)];
  if (slot.known.id == KnownNamespace::kUnknown) ++used_;
  slot = {name, known};
  if (2 * used_ > slots_.size()) grow();
}

void NamespaceCache::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (const Slot& slot : old) {
    if (slot.known.id != KnownNamespace::kUnknown) slots_[slot_of(slot.name)] = slot;
  }
}

}  // namespace leveret::text
