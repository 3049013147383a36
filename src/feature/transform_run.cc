// Derived features are made from hashes, values and the numbers that the parser has read, which is
// all that a cache keeps; so a model learns the same from text and from a cache.
#include "feature/transform_run.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string_view>

#include "feature/transform_bins.h"
#include "text/namespace_number.h"

namespace leveret::feature {
namespace {

using text::Feature;

/// A value stays finite, as the parser's values are.
float kept_finite(float value) {
  constexpr float kMax = std::numeric_limits<float>::max();
  return std::clamp(value, -kMax, kMax);
}

float product(float a, float b) { return kept_finite(a * b); }

}  // namespace

/// One step's work on one example.
class TransformRunner::Derivation {
 public:
  Derivation(const Step& step, text::HashMode hash, bool keep_names, TransformScratch& scratch)
      : step_(step),
        hash_(hash),
        keep_names_(keep_names),
        out_(scratch.chunk),
        numbers_(scratch.numbers),
        first_(out_.features.size()) {}

  void run() {
    switch (step_.transform.kind) {
      case TransformKind::kCombine:
        find_sources();
        combine(0, {step_.hash, 1.0f}, "");
        break;
      case TransformKind::kWeight:
        find_sources();
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
  /// The runs of each source, once: a line may have a million.
  void find_sources() {
    source_runs_.resize(step_.sources.size());
    for (std::size_t source = 0; source < step_.sources.size(); ++source) {
      for (const text::NamespaceRun& run : out_.runs) {
        if (run.name == step_.sources[source]) source_runs_[source].push_back(run);
      }
    }
  }

  /// Every choice of one feature from each source from number `source` on: hash and value go on
  /// from `so_far`.
  void combine(std::size_t source, Feature so_far, const std::string& name) {
    if (source == step_.sources.size()) {
      add(so_far, name);
      return;
    }
    for (const text::NamespaceRun& run : source_runs_[source]) {
      for (std::uint32_t f = run.begin; f < run.end && !full(); ++f) {
        ++tried_;
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
    float numbers[2] = {0, 0};
    for (std::size_t i = 0; i < step_.sources.size(); ++i) {
      const std::optional<float> number = numbers_[step_.sources[i] & ~kNumber];
      if (!number) return;
      numbers[i] = static_cast<float>(static_cast<double>(*number) * step_.factors[i]);
      if (!std::isfinite(numbers[i])) return;
    }
    const auto [a, b] = numbers;
    const Bins found = bins_of(step_.transform, static_cast<double>(a), static_cast<double>(b));
    for (std::size_t i = 0; i < found.count; ++i) {
      const std::string_view name = found.bins[i].name();
      add({text::hash_name(name, step_.hash, hash_), found.bins[i].weight}, name);
    }
  }

  /// Products that become 0 are not added, and take time.
  bool full() const {
    return out_.features.size() - first_ >= kMaxDerivedFeatures || tried_ >= text::kMaxFeatures;
  }

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
  const std::vector<std::optional<float>>& numbers_;
  std::vector<std::vector<text::NamespaceRun>> source_runs_;
  std::size_t tried_ = 0;
  std::size_t first_;  ///< where its features begin in out_
};

TransformRunner::TransformRunner(const std::vector<Transform>& transforms,
                                 std::vector<std::string> numbers,
                                 const std::vector<std::string>& numeric, text::HashMode hash,
                                 std::uint32_t hash_seed)
    : numbers_(std::move(numbers)), hash_(hash) {
  const auto slot_of = [&](const std::string& space) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(numbers_, space) - numbers_.begin());
  };
  numeric_of_slot_.resize(numbers_.size(), kUnbound);
  for (const std::string& space : numeric) numeric_of_slot_[slot_of(space)] = numeric_++;
  const std::vector<std::vector<NumberSource>> sources = number_sources(transforms);
  for (const std::size_t i : transform_order(transforms)) {
    const Transform& transform = transforms[i];
    Step& step = steps_.emplace_back();
    step.transform = transform;
    step.plan = kUnbound;
    step.hash = text::hash_name(transform.name, hash_seed, hash);
    if (!transform.is_binner()) step.sources.assign(transform.sources.size(), kUnbound);
    for (const NumberSource& source : sources[i]) {
      step.sources.push_back(kNumber | slot_of(source.name));
      step.factors.push_back(source.factor);
    }
  }
  for (std::string& name : numbers_) name = text::number_run_name(name);
}

void TransformRunner::bind(const std::string& name, std::uint32_t plan) {
  for (Step& step : steps_) {
    if (step.transform.name == name) step.plan = plan;
    if (step.transform.is_binner()) continue;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      if (step.transform.sources[i] == name) step.sources[i] = plan;
    }
  }
}

bool TransformRunner::makes(std::uint32_t plan) const {
  return std::ranges::find(steps_, plan, &Step::plan) != steps_.end();
}

std::optional<std::uint32_t> TransformRunner::number_slot(std::string_view run_name) const {
  const auto found = std::ranges::find(numbers_, run_name);
  if (found == numbers_.end()) return std::nullopt;
  return kNumber | static_cast<std::uint32_t>(found - numbers_.begin());
}

std::string TransformRunner::unread_text(const Step& step, std::size_t source) {
  return step.transform.name + ": no line has " +
         (step.transform.is_binner() ? "a number in namespace " : "namespace ") +
         step.transform.sources[source];
}

void TransformRunner::take_number(std::uint32_t slot, float number,
                                  TransformScratch& scratch) const {
  if (!scratch.numbers[slot]) scratch.numbers[slot] = number;
  if (numeric_of_slot_[slot] == kUnbound) return;
  float& sum = scratch.numeric[numeric_of_slot_[slot]];
  sum = kept_finite(sum + number);
}

/// The example as it is, its own runs under the indices of their plans; a number goes to its slot,
/// the first one where there are several.
void TransformRunner::copy_example(const std::vector<std::uint32_t>& plan_of,
                                   const text::ExampleChunk& chunk, const text::Example& example,
                                   TransformScratch& scratch) const {
  text::ExampleChunk& out = scratch.chunk;
  out.clear();
  scratch.numbers.assign(numbers_.size(), std::nullopt);
  scratch.numeric.assign(numeric_, 0.0f);
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const std::uint32_t plan = plan_of[run.name];
    if ((plan & kNumber) != 0) {
      if (run.begin != run.end)
        take_number(plan & ~kNumber, chunk.features[run.begin].value, scratch);
      continue;
    }
    const auto begin = static_cast<std::uint32_t>(out.features.size());
    out.features.insert(out.features.end(), chunk.features.begin() + run.begin,
                        chunk.features.begin() + run.end);
    out.runs.push_back({plan, run.hash, begin, static_cast<std::uint32_t>(out.features.size())});
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

void TransformRunner::apply(const std::vector<std::uint32_t>& plan_of,
                            const text::ExampleChunk& chunk, const text::Example& example,
                            TransformScratch& out) const {
  copy_example(plan_of, chunk, example, out);
  for (const Step& step : steps_) {
    assert(step.plan != kUnbound);
    Derivation(step, hash_, !chunk.names.empty(), out).run();
  }
  out.chunk.examples[0].runs_begin = 0;
  out.chunk.examples[0].runs_end = static_cast<std::uint32_t>(out.chunk.runs.size());
}

}  // namespace leveret::feature
