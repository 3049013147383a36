// Derived features are made from hashes and values only, which is all that a cache keeps; so a
// model learns the same from text and from a cache.
#include "feature/transform_run.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "feature/transform_bins.h"

namespace leveret::feature {
namespace {

using text::Feature;

/// A value stays finite, as the parser's values are.
float product(float a, float b) {
  constexpr float kMax = std::numeric_limits<float>::max();
  return std::clamp(a * b, -kMax, kMax);
}

/// Of the example as it is: its own runs, under the numbers of their plans.
void copy_example(const std::vector<std::uint32_t>& plan_of, const text::ExampleChunk& chunk,
                  const text::Example& example, text::ExampleChunk& out) {
  out.clear();
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const auto begin = static_cast<std::uint32_t>(out.features.size());
    out.features.insert(out.features.end(), chunk.features.begin() + run.begin,
                        chunk.features.begin() + run.end);
    out.runs.push_back(
        {plan_of[run.name], run.hash, begin, static_cast<std::uint32_t>(out.features.size())});
    if (chunk.names.empty()) continue;
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      text::FeatureName name = chunk.names[f];
      const auto at = static_cast<std::uint32_t>(out.bytes.size());
      out.bytes += chunk.view(name.name_begin, name.name_size);
      out.bytes += chunk.view(name.value_begin, name.value_size);
      name.name_begin = at;
      name.value_begin = at + name.name_size;
      out.names.push_back(name);
    }
  }
  out.examples.push_back(example);
}

}  // namespace

/// One step's work on one example.
class TransformRunner::Derivation {
 public:
  Derivation(const Step& step, text::HashMode hash, bool keep_names, text::ExampleChunk& out)
      : step_(step), hash_(hash), keep_names_(keep_names), out_(out), first_(out.features.size()) {}

  void run() {
    switch (step_.transform.kind) {
      case TransformKind::kCombine:
        combine(0, {step_.hash, 1.0f}, "");
        break;
      case TransformKind::kWeight:
        combine(0, {step_.hash, step_.transform.parameters[0]}, "");
        break;
      default:
        bins();
    }
    if (out_.features.size() == first_) return;
    out_.runs.push_back({step_.plan, step_.hash, static_cast<std::uint32_t>(first_),
                         static_cast<std::uint32_t>(out_.features.size())});
  }

 private:
  /// Every choice of one feature from each source from number `source` on: hash and value go on
  /// from `so_far`.
  void combine(std::size_t source, Feature so_far, const std::string& name) {
    if (source == step_.source_plans.size()) {
      add(so_far, name);
      return;
    }
    // Not by reference: adding moves the vectors.
    for (std::size_t r = 0; r < out_.runs.size(); ++r) {
      const text::NamespaceRun run = out_.runs[r];
      if (run.name != step_.source_plans[source]) continue;
      for (std::uint32_t f = run.begin; f < run.end && !full(); ++f) {
        const Feature feature = out_.features[f];
        const Feature next{text::hash_pair(so_far.hash, feature.hash),
                           product(so_far.value, feature.value)};
        if (next.value != 0) combine(source + 1, next, keep_names_ ? extended(name, f) : name);
      }
    }
  }

  std::string extended(const std::string& name, std::uint32_t feature) const {
    const text::FeatureName& part = out_.names[feature];
    std::string text = name;
    if (!text.empty()) text += '*';
    text += out_.view(part.name_begin, part.name_size);
    if (part.value_size > 0) text += '^';
    text += out_.view(part.value_begin, part.value_size);
    return text;
  }

  void bins() {
    double numbers[2] = {0, 0};
    for (std::size_t i = 0; i < step_.source_plans.size(); ++i) {
      const std::optional<double> number = number_of(i);
      if (!number) return;
      numbers[i] = *number;
    }
    const Bins found = bins_of(step_.transform, numbers[0], numbers[1]);
    for (std::size_t i = 0; i < found.count; ++i) {
      const std::string_view name = found.bins[i].name();
      add({text::hash_name(name, step_.hash, hash_), found.bins[i].weight}, name);
    }
  }

  /// The number that a namespace stands for. A value of 0 makes no feature in the parser, so a
  /// namespace that is there without a feature is 0.
  std::optional<double> number_of(std::size_t source) const {
    std::optional<double> number;
    const bool digits = step_.transform.sources[source].digits;
    for (const text::NamespaceRun& run : out_.runs) {
      if (run.name != step_.source_plans[source]) continue;
      if (run.begin != run.end) {
        const Feature& feature = out_.features[run.begin];
        return digits ? static_cast<double>(feature.hash - run.hash)
                      : static_cast<double>(feature.value);
      }
      if (!digits) number = 0;
    }
    return number;
  }

  bool full() const { return out_.features.size() - first_ >= kMaxDerivedFeatures; }

  void add(Feature feature, std::string_view name) {
    if (feature.value == 0 || full()) return;
    out_.features.push_back(feature);
    if (!keep_names_) return;
    out_.names.push_back({static_cast<std::uint32_t>(out_.bytes.size()),
                          static_cast<std::uint32_t>(name.size()), 0, 0});
    out_.bytes += name;
  }

  const Step& step_;
  text::HashMode hash_;
  bool keep_names_;
  text::ExampleChunk& out_;
  std::size_t first_;  ///< where its features begin in out_
};

TransformRunner::TransformRunner(const std::vector<Transform>& transforms, text::HashMode hash,
                                 std::uint32_t hash_seed)
    : hash_(hash) {
  for (const std::size_t i : transform_order(transforms)) {
    const Transform& transform = transforms[i];
    steps_.push_back({transform, kUnbound, text::hash_name(transform.name, hash_seed, hash),
                      std::vector<std::uint32_t>(transform.sources.size(), kUnbound)});
  }
}

void TransformRunner::bind(const std::string& name, std::uint32_t plan) {
  for (Step& step : steps_) {
    if (step.transform.name == name) step.plan = plan;
    for (std::size_t i = 0; i < step.source_plans.size(); ++i) {
      if (step.transform.sources[i].name == name) step.source_plans[i] = plan;
    }
  }
}

void TransformRunner::apply(const std::vector<std::uint32_t>& plan_of,
                            const text::ExampleChunk& chunk, const text::Example& example,
                            text::ExampleChunk& out) const {
  copy_example(plan_of, chunk, example, out);
  for (const Step& step : steps_) {
    assert(step.plan != kUnbound);
    Derivation(step, hash_, !chunk.names.empty(), out).run();
  }
  out.examples[0].runs_begin = 0;
  out.examples[0].runs_end = static_cast<std::uint32_t>(out.runs.size());
}

}  // namespace leveret::feature
