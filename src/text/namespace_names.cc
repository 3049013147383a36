#include "text/namespace_names.h"

namespace leveret::text {

std::optional<std::uint32_t> NamespaceNames::intern(std::string_view name) {
  if (closed_) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    const auto other = id_of_hash_.find(hash_namespace(name, hash_seed_, hash_));
    if (other != id_of_hash_.end()) return other->second;
    return shared(static_cast<unsigned char>(name[0]));
  }
  std::lock_guard lock(mutex_);
  if (auto found = ids_.find(name); found != ids_.end()) return found->second;
  if (names_.size() >= kMax) return std::nullopt;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

void NamespaceNames::close(std::uint32_t hash_seed, HashMode hash) {
  if (closed_) return;
  intern("");  // it begins with no byte
  first_shared_ = size();
  hash_seed_ = hash_seed;
  hash_ = hash;
  for (std::uint32_t id = 0; id < first_shared_; ++id) {
    id_of_hash_.emplace(hash_namespace(names_[id], hash_seed, hash), id);
  }
  for (int byte = 0; byte < 256; ++byte) names_.push_back({static_cast<char>(byte), ' '});
  closed_ = true;
}

std::string_view NamespaceNames::name(std::uint32_t id) const {
  std::lock_guard lock(mutex_);
  return names_.at(id);
}

std::uint32_t NamespaceNames::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(names_.size());
}

}  // namespace leveret::text
