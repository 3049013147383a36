/// Lines that name, as a namespace of theirs, what --transform makes: which of the two is meant
/// nobody knows.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "feature/feature_map.h"
#include "text/example.h"
#include "text/hash.h"
#include "text/namespace_names.h"

namespace leveret::api {

/// For ParserOptions::limit: they become bad lines, behind those of `limit`. One thread's.
class RefuseMadeNames {
 public:
  using Limit = std::function<void(const text::NamespaceNames&, text::ExampleChunk&)>;

  /// For a model with these features.
  RefuseMadeNames(const feature::FeatureOptions& options, Limit limit);

  void operator()(const text::NamespaceNames& names, text::ExampleChunk& chunk);

 private:
  bool is_made(const text::NamespaceNames& names, std::uint32_t name);

  std::uint32_t hash(std::string_view name) const;

  std::uint32_t hash_seed_;
  text::HashMode hash_mode_;
  std::vector<std::uint32_t> made_;  ///< hashes, by which a model tells namespaces apart
  Limit limit_;
  std::vector<signed char> known_;  ///< by namespace: 1 is made, 0 is not; -1: not looked at yet
};

}  // namespace leveret::api
