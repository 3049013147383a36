/// Lines that name, as a namespace of theirs, what --transform makes: which of the two is meant
/// nobody knows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "feature/transform.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::learner {

/// For ParserOptions::limit: they become bad lines, behind those of `limit`. One thread's.
class RefuseMadeNames {
 public:
  using Limit = std::function<void(const text::NamespaceNames&, text::ExampleChunk&)>;

  RefuseMadeNames(const std::vector<feature::Transform>& transforms, Limit limit);

  void operator()(const text::NamespaceNames& names, text::ExampleChunk& chunk);

 private:
  bool is_made(const text::NamespaceNames& names, std::uint32_t name);

  std::vector<std::string> made_;
  Limit limit_;
  std::vector<signed char> known_;  ///< by namespace: 1 is made, 0 is not; -1: not looked at yet
};

}  // namespace leveret::learner
