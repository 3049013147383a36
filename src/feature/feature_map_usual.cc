// FeatureMap: the usual line, in one pass.
#include <algorithm>

#include "feature/feature_map.h"

namespace leveret::feature {

FeatureMap::UsualRoute FeatureMap::usual_route(const Route& route) const {
  const bool linear = route.group != Route::kNone;
  if (!options_.field_features) return {route.group, linear ? 0 : UsualRoute::kUnusual};
  const bool one_field = route.field != Route::kNone && route.field != Route::kSeveral;
  return {route.group,
          linear && one_field ? static_cast<std::int32_t>(route.field) : UsualRoute::kUnusual};
}

/// Puts `run` in its place among those from `first` to `end`, which ascend by field. False when
/// there is one of its field.
bool FeatureMap::insert_run(FieldRun run, FieldRun* first, FieldRun* end) {
  for (; end != first && end[-1].field >= run.field; --end) {
    if (end[-1].field == run.field) return false;
    *end = end[-1];
  }
  *end = run;
  return true;
}

/// The runs of a usual line where neither groups nor fields are asked for: to out.linear_runs, as
/// one. False, with nothing appended, when it is not a usual line.
bool FeatureMap::map_usual_linear(std::span<const text::NamespaceRun> runs,
                                  FeatureBatch& out) const {
  const UsualRoute* const routes = usual_.data();
  const std::size_t names = usual_.size();
  for (const text::NamespaceRun& run : runs) {
    if (run.name >= names || routes[run.name].field < 0) return false;
  }
  const auto at = static_cast<std::uint32_t>(out.linear.size());
  out.linear_runs.push_back({0, at, at + (runs.back().end - runs.front().begin)});
  return true;
}

/// The runs of a usual line: to out.linear_runs, as one without groups, and to out.runs. False,
/// with nothing appended, when it is not a usual line.
template <bool kGroups, bool kFields>
bool FeatureMap::map_usual_runs(std::span<const text::NamespaceRun> runs, FeatureBatch& out) const {
  const auto linear_at = static_cast<std::uint32_t>(out.linear.size());
  const auto field_at = static_cast<std::uint32_t>(out.field_features.size());
  const std::size_t linear_run_at = out.linear_runs.size(), run_at = out.runs.size();
  out.linear_runs.resize(linear_run_at + (kGroups ? runs.size() : 1));
  if (kFields) out.runs.resize(run_at + runs.size());
  LinearRun* const linear_runs = out.linear_runs.data() + linear_run_at;
  FieldRun* const field_runs = out.runs.data() + run_at;
  const UsualRoute* const routes = usual_.data();
  const std::size_t names = usual_.size();

  const std::uint32_t begin = runs[0].begin;
  std::uint32_t end = begin;
  bool usual = true;
  for (std::size_t r = 0; usual && r < runs.size(); ++r) {
    const text::NamespaceRun run = runs[r];
    if (run.name >= names || run.begin != end || run.end == end || routes[run.name].field < 0) {
      usual = false;
      break;
    }
    const UsualRoute route = routes[run.name];
    end = run.end;
    if (kGroups) {
      linear_runs[r] = {route.group, linear_at + (run.begin - begin), linear_at + (end - begin)};
    }
    if (kFields) {
      usual = insert_run({static_cast<std::uint32_t>(route.field), field_at + (run.begin - begin),
                          field_at + (end - begin)},
                         field_runs, field_runs + r);
    }
  }
  if (!usual) {
    out.linear_runs.resize(linear_run_at);
    if (kFields) out.runs.resize(run_at);
    return false;
  }
  if (!kGroups) linear_runs[0] = {0, linear_at, linear_at + (end - begin)};
  return true;
}

bool FeatureMap::map_usual(const text::ExampleChunk& chunk, const text::Example& example,
                           FeatureBatch& out) const {
  const std::size_t count = example.runs_end - example.runs_begin;
  if (count == 0 || !options_.interactions.empty()) return false;
  const std::span runs(chunk.runs.data() + example.runs_begin, count);
  const bool fields = options_.field_features;
  const bool usual =
      out.groups ? (fields ? map_usual_runs<true, true>(runs, out)
                           : map_usual_runs<true, false>(runs, out))
                 : (fields ? map_usual_runs<false, true>(runs, out) : map_usual_linear(runs, out));
  if (!usual) return false;
  append_features({chunk.features.data() + runs[0].begin, runs[count - 1].end - runs[0].begin},
                  static_cast<std::uint32_t>(out.linear.size()), out);
  out.linear_runs_begin.push_back(static_cast<std::uint32_t>(out.linear_runs.size()));
  return true;
}

void FeatureMap::append_features(std::span<const Feature> features, std::uint32_t linear_at,
                                 FeatureBatch& out) const {
  out.linear.insert(out.linear.end(), features.begin(), features.end());
  if (!options_.field_features) return;
  const std::size_t field_at = out.field_features.size();
  out.field_features.resize(field_at + features.size());
  FieldFeature* const to = out.field_features.data() + field_at;
  for (std::uint32_t i = 0; i < features.size(); ++i) {
    to[i] = {features[i].hash, features[i].value, linear_at + i};
  }
}

}  // namespace leveret::feature
