#include "text/namespace_names.h"

namespace leveret::text {

std::optional<std::uint32_t> NamespaceNames::intern(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (auto found = ids_.find(name); found != ids_.end()) return found->second;
  if (names_.size() >= kMax) return std::nullopt;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
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
