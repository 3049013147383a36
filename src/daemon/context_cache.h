/// Contexts that may return (FW paper, section 5: Context caching): the least used goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "predict/cached_context.h"

namespace leveret::daemon {

/// One thread's; of any number of predictors, each with a number of its own.
class ContextCache {
 public:
  explicit ContextCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The context with the features of this example, or null.
  std::shared_ptr<predict::CachedContext> find(std::uint64_t predictor,
                                               const text::ExampleChunk& chunk,
                                               std::size_t example);
  /// The next call for this context may find it.
  void add(std::uint64_t predictor, std::shared_ptr<predict::CachedContext> context);
  /// All contexts of a predictor that has gone.
  void forget(std::uint64_t predictor);

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::uint64_t hash, predictor;
    std::size_t bytes;
    std::shared_ptr<predict::CachedContext> context;
  };
  using Entries = std::list<Entry>;  ///< the last used in front

  static std::uint64_t hash_of(std::uint64_t predictor, const text::ExampleChunk& chunk,
                               const text::Example& example);
  void remove(Entries::iterator entry);

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  Entries entries_;
  std::unordered_map<std::uint64_t, Entries::iterator> by_hash_;
};

}  // namespace leveret::daemon
