// FeatureMap: the usual line, in one pass. Without it the defaults take 3.6 % more instructions, a
// linear model 9.5 %, one of one head 42 % (scripts/bench/instructions.sh, which fails where it is
// not taken). Delete it when map_linear and map_fields cost a linear model less than 5 % more.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "feature/feature_map.h"

namespace leveret::feature {

FeatureMap::UsualRoute FeatureMap::usual_route(std::uint32_t plan) const {
  const Route& route = routes_[plan];
  const bool linear = route.group != Route::kNone;
  const std::uint64_t bit = std::uint64_t{1} << std::min(plan, FeatureBatch::kOtherPlans);
  if (!options_.field_features) {
    return {bit, route.group, linear ? static_cast<std::int32_t>(plan) : UsualRoute::kUnusual};
  }
  const bool one_field = route.field != Route::kNone && route.field != Route::kSeveral;
  return {bit, route.group,
          linear && one_field ? static_cast<std::int32_t>(route.field) : UsualRoute::kUnusual};
}

/// The runs of a usual line where neither groups nor fields are asked for: to out.linear_runs, as
/// one. False, with nothing appended, when it is not a usual line.
bool FeatureMap::map_usual_linear(std::span<const text::NamespaceRun> runs, bool all_usual,
                                  FeatureBatch& out) const {
  const UsualRoute* const routes = usual_.data();
  const std::size_t names = usual_.size();
  for (const text::NamespaceRun& run : all_usual ? runs.first(0) : runs) {
    if (run.name >= names || routes[run.name].field < 0) return false;
  }
  const auto at = static_cast<std::uint32_t>(out.linear.size());
  out.linear_runs.push_back({0, at, at + (runs.back().end - runs.front().begin)});
  return true;
}

/// Those of a line that map_usual_linear has taken.
std::uint64_t FeatureMap::plans_of(std::span<const text::NamespaceRun> runs) const {
  std::uint64_t plans = 0;
  for (const text::NamespaceRun& run : runs) plans |= usual_[run.name].plan;
  const bool all_differ = std::popcount(plans) == static_cast<int>(runs.size());
  return all_differ ? plans : plans | std::uint64_t{1} << FeatureBatch::kOtherPlans;
}

/// Those of any other usual line, without groups as one. False, with nothing appended, when it is
/// not a usual line.
template <bool kGroups, bool kFields>
bool FeatureMap::map_usual_runs(std::span<const text::NamespaceRun> runs, std::uint64_t& plans,
                                FeatureBatch& out) const {
  using Place = FeatureBatch::FieldPlace;
  const std::uint32_t begin = runs.front().begin;
  const auto linear_at = static_cast<std::uint32_t>(out.linear.size());
  const auto field_at = static_cast<std::uint32_t>(out.field_features.size());
  const std::size_t linear_run_at = out.linear_runs.size();
  out.linear_runs.resize(linear_run_at + (kGroups ? runs.size() : 1));
  LinearRun* const linear_runs = out.linear_runs.data() + linear_run_at;
  if (kFields) out.field_places.assign(field_count_, {Place::kNowhere, 0});
  Place* const places = out.field_places.data();
  const UsualRoute* const routes = usual_.data();
  const std::size_t names = usual_.size();

  bool usual = true;
  std::uint64_t found = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const text::NamespaceRun run = runs[r];
    if (run.name >= names || run.begin == run.end || routes[run.name].field < 0) {
      usual = false;
      break;
    }
    const UsualRoute route = routes[run.name];
    const std::uint32_t first = run.begin - begin, end = run.end - begin;
    found |= route.plan;
    if (kGroups) linear_runs[r] = {route.group, linear_at + first, linear_at + end};
    if (kFields) places[route.field] = {field_at + first, field_at + end};
  }
  plans = found;
  if (kGroups && !kFields && std::popcount(plans) != static_cast<int>(runs.size())) {
    usual = usual && all_differ(runs, out);
  }
  if (!usual || (kFields && !put_field_runs(runs.size(), out))) {
    out.linear_runs.resize(linear_run_at);
    return false;
  }
  if (!kGroups) linear_runs[0] = {0, linear_at, linear_at + (runs.back().end - begin)};
  return true;
}

/// Whether no two of these runs are of one namespace. Their plans are known.
bool FeatureMap::all_differ(std::span<const text::NamespaceRun> runs, FeatureBatch& out) const {
  out.plans_seen.start(plans_.size());
  return std::ranges::none_of(runs, [&](const text::NamespaceRun& run) {
    return out.plans_seen.again(plan_of_[run.name]);
  });
}

/// Appends the runs of the fields that have a place. False, with nothing appended, when they are
/// not `count`: one has two runs.
bool FeatureMap::put_field_runs(std::size_t count, FeatureBatch& out) const {
  const std::size_t run_at = out.runs.size();
  out.runs.resize(run_at + field_count_ + 1);  // one is written before it is known to be there
  FieldRun* const first = out.runs.data() + run_at;
  FieldRun* next = first;
  for (std::uint32_t field = 0; field < field_count_; ++field) {
    const FeatureBatch::FieldPlace place = out.field_places[field];
    *next = {field, place.begin, place.end};
    next += place.begin != FeatureBatch::FieldPlace::kNowhere;
  }
  const bool all = static_cast<std::size_t>(next - first) == count;
  out.runs.resize(run_at + (all ? count : 0));
  return all;
}

bool FeatureMap::map_usual(const text::ExampleChunk& chunk, const text::Example& example,
                           bool all_usual, FeatureBatch& out) const {
  const std::size_t count = example.runs_end - example.runs_begin;
  if (count == 0 || !options_.interactions.empty()) return false;
  const std::span runs(chunk.runs.data() + example.runs_begin, count);
  const bool fields = options_.field_features;
  std::uint64_t plans = 0;
  const bool usual = out.groups ? (fields ? map_usual_runs<true, true>(runs, plans, out)
                                          : map_usual_runs<true, false>(runs, plans, out))
                                : (fields ? map_usual_runs<false, true>(runs, plans, out)
                                          : map_usual_linear(runs, all_usual, out));
  if (!usual) return false;
  if (out.keep_origins) {
    if (!out.groups && !fields) plans = plans_of(runs);
    out.origins.push_back({plans, 0});
  }
  append_features({chunk.features.data() + runs[0].begin, runs[count - 1].end - runs[0].begin},
                  static_cast<std::uint32_t>(out.linear.size()), out);
  out.linear_runs_begin.push_back(static_cast<std::uint32_t>(out.linear_runs.size()));
  return true;
}

void FeatureMap::append_features(std::span<const Feature> features, std::uint32_t linear_at,
                                 FeatureBatch& out) const {
  out.chunks_stay ? out.linear.borrow(features) : out.linear.append(features);
  if (!options_.field_features) return;
  const std::size_t field_at = out.field_features.size();
  out.field_features.resize(field_at + features.size());
  FieldFeature* const to = out.field_features.data() + field_at;
  for (std::uint32_t i = 0; i < features.size(); ++i) {
    to[i] = {features[i].hash, features[i].value, linear_at + i};
  }
}

}  // namespace leveret::feature
