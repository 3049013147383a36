/// Makes the features of --transform's namespaces, example by example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feature/transform.h"
#include "text/example.h"
#include "text/hash.h"

namespace leveret::feature {

/// What a line may make of one transform: Combine of large namespaces would fill the memory.
inline constexpr std::size_t kMaxDerivedFeatures = 1u << 16;

/// `bind` is for one thread with nobody else inside; `apply` is const and may run in any number of
/// threads.
class TransformRunner {
 public:
  /// Names and bins are hashed as the parser would hash them.
  TransformRunner(const std::vector<Transform>& transforms, text::HashMode hash,
                  std::uint32_t hash_seed);

  bool empty() const { return steps_.empty(); }

  /// Namespace `name` has the plan of this index.
  void bind(const std::string& name, std::uint32_t plan);

  /// Puts the example as the one example into `out`: its own runs, then the derived ones, none of
  /// them empty. There a run's `name` is the index of its plan. `plan_of` maps name ids of `chunk`
  /// to these indices and knows all of the example. Names are kept where the chunk has them.
  void apply(const std::vector<std::uint32_t>& plan_of, const text::ExampleChunk& chunk,
             const text::Example& example, text::ExampleChunk& out) const;

 private:
  static constexpr std::uint32_t kUnbound = 0xffffffffu;
  struct Step {
    Transform transform;
    std::uint32_t plan;  ///< kUnbound until bound; then it never changes
    std::uint32_t hash;  ///< of the new namespace's name
    std::vector<std::uint32_t> source_plans;
  };

  class Derivation;

  std::vector<Step> steps_;  ///< each after those that it reads
  text::HashMode hash_ = text::HashMode::kStrings;
};

}  // namespace leveret::feature
