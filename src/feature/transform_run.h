/// Makes the features of --transform's namespaces, and takes the numbers of --numeric's, example by
/// example.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feature/transform.h"
#include "text/example.h"
#include "text/hash.h"

namespace leveret::feature {

/// The most features that a line may make of one transform: Combine of large namespaces would fill
/// the memory.
inline constexpr std::size_t kMaxDerivedFeatures = 1u << 16;

/// One thread's working memory; used again without allocating.
struct TransformScratch {
  /// The example that was made last: its own runs, then the derived ones, none of them empty. A
  /// run's `name` is the index of its plan.
  text::ExampleChunk chunk;
  std::vector<std::optional<float>> numbers;  ///< of that example, by number slot
  /// The numbers of --numeric of that example. Where a context and a candidate both have one, it is
  /// their sum, as what they add up is.
  std::vector<float> numeric;
};

/// `bind` is for one thread with nobody else inside; `apply` is const and may run in any number of
/// threads.
class TransformRunner {
 public:
  /// Names and bins are hashed as the parser would hash them. `numbers`: the namespaces whose
  /// numbers are read, ascending, those of `numeric` among them.
  TransformRunner(const std::vector<Transform>& transforms, std::vector<std::string> numbers,
                  const std::vector<std::string>& numeric, text::HashMode hash,
                  std::uint32_t hash_seed);

  /// Whether an example passes as it is.
  bool empty() const { return steps_.empty() && numeric_ == 0; }

  /// Namespace `name` has the plan of this index.
  void bind(const std::string& name, std::uint32_t plan);
  /// Whether the namespace with this plan is made here.
  bool makes(std::uint32_t plan) const;

  /// The number that stands in place of a plan's index for runs that are numbers
  /// (text/namespace_number.h); nullopt: no run of this name is a number that is read here.
  std::optional<std::uint32_t> number_slot(std::string_view run_name) const;

  /// Puts the example into `out.chunk`, names with it where the chunk has them. `plan_of` maps name
  /// ids of `chunk` to plans and number slots, and knows all of the example.
  void apply(const std::vector<std::uint32_t>& plan_of, const text::ExampleChunk& chunk,
             const text::Example& example, TransformScratch& out) const;

  /// At most how many features each step makes, to add(its plan, they), from length(plan) of what
  /// was there before.
  template <class Length, class Add>
  void count(Length length, Add add) const {
    for (const Step& step : steps_) {
      double made = 2;  // bins
      if (!step.transform.is_binner()) {
        made = 1;
        for (const std::uint32_t source : step.sources) made *= length(source);
      }
      add(step.plan, std::min(made, double{kMaxDerivedFeatures}));
    }
  }

  /// The sources that this run has found nothing to make features of, for people: one text for each
  /// source of a transform that no line had. `met` tells of plans and number slots whether a line
  /// had them.
  template <class Met>
  std::vector<std::string> unread(Met met) const {
    std::vector<std::string> texts;
    for (const Step& step : steps_) {
      for (std::size_t i = 0; i < step.sources.size(); ++i) {
        if (!met(step.sources[i])) texts.push_back(unread_text(step, i));
      }
    }
    return texts;
  }

 private:
  static constexpr std::uint32_t kUnbound = 0xffffffffu;
  static constexpr std::uint32_t kNumber = 0x80000000u;  ///< marks a number slot
  struct Step {
    Transform transform;
    std::uint32_t plan;                  ///< kUnbound until bound; then it never changes
    std::uint32_t hash;                  ///< of the new namespace's name
    std::vector<std::uint32_t> sources;  ///< plans; a binner's: number slots
    std::vector<double> factors;         ///< a binner's: of its numbers
  };

  class Derivation;

  void copy_example(const std::vector<std::uint32_t>& plan_of, const text::ExampleChunk& chunk,
                    const text::Example& example, TransformScratch& out) const;
  void take_number(std::uint32_t slot, float number, TransformScratch& out) const;
  static std::string unread_text(const Step& step, std::size_t source);

  std::vector<Step> steps_;                     ///< each after those that it reads
  std::vector<std::string> numbers_;            ///< names of the runs that are numbers, by slot
  std::uint32_t numeric_ = 0;                   ///< so many are --numeric's
  std::vector<std::uint32_t> numeric_of_slot_;  ///< by slot: its place there; kUnbound: none
  text::HashMode hash_ = text::HashMode::kStrings;
};

}  // namespace leveret::feature
