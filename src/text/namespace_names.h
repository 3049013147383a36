/// The namespaces met so far: a name and its id, in order of first appearance. Prediction closes
/// them, so that those that a stranger makes up take no memory.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/hash.h"

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
  /// From now on new names are not kept: intern answers one that has the hash of a known name by
  /// the first such name's id, and all others that begin with one byte by one id, whose name is
  /// that byte and a blank, which no namespace has. What is decided about a namespace by its first
  /// letter is so decided for these, too. To be called before other threads come.
  void close(std::uint32_t hash_seed = 0, HashMode hash = HashMode::kStrings);
  static bool is_name_of_shared(std::string_view name) {
    return name.size() == 2 && name[1] == ' ';
  }
  /// Whether the id stands for names that came after close().
  bool is_shared(std::uint32_t id) const { return closed_ && id >= first_shared_; }
  /// The id of those that begin with this byte, once closed.
  std::uint32_t shared(unsigned char first) const { return first_shared_ + first; }
  std::string_view name(std::uint32_t id) const;
  /// Every id is below it.
  std::uint32_t size() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  // Once closed:
  std::unordered_map<std::uint32_t, std::uint32_t> id_of_hash_;
  std::uint32_t hash_seed_ = 0;
  HashMode hash_ = HashMode::kStrings;
  bool closed_ = false;  ///< then nothing here changes any more, and nobody needs the lock
  std::uint32_t first_shared_ = 0;
};

}  // namespace leveret::text
