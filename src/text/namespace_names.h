/// The namespaces met so far: a name and its id, in order of first appearance.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace leveret::text {

/// Append-only and safe for any number of threads: a name, once given out, keeps its id and its
/// address. Parsers keep their own small cache in front of it, so the lock is taken only at a
/// parser's first sight of a name.
class NamespaceNames {
 public:
  /// At most this many different names; a line that would exceed it is bad.
  static constexpr std::uint32_t kMax = 1u << 20;

  /// The id of `name`, new or old; nullopt when kMax is reached.
  std::optional<std::uint32_t> intern(std::string_view name);
  std::string_view name(std::uint32_t id) const;
  std::uint32_t size() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace leveret::text
