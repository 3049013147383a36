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

bool NamespaceCache::find_anew(std::uint64_t name, Lately& lately) const {
  char bytes[sizeof name];
  std::memcpy(bytes, &name, sizeof name);
  const KnownNamespace known = find({bytes, static_cast<std::size_t>(name >> 56)});
  if (known.id == KnownNamespace::kUnknown || known.number) return false;
  lately = {name, {known.id, known.hash}};
  return true;
}

void NamespaceCache::insert(std::string_view name, KnownNamespace known) {
  if (name.size() == 1) {
    letters_[static_cast<unsigned char>(name[0])] = known;
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
