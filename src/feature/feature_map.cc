#include "feature/feature_map.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "feature/interactions.h"
#include "feature/selector.h"
#include "text/namespace_number.h"

namespace leveret::feature {
namespace {

std::size_t count_features(const text::ExampleChunk& chunk, const text::Example& example) {
  std::size_t count = 0;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    count += chunk.runs[r].end - chunk.runs[r].begin;
  }
  return count;
}

/// Feature f of a run whose first one is at `linear` in FeatureBatch::linear, or kNoLinear.
FieldFeature field_feature(const text::ExampleChunk& chunk, const text::NamespaceRun& run,
                           std::uint32_t f, std::uint32_t linear) {
  const Feature& feature = chunk.features[f];
  return {feature.hash, feature.value, linear == kNoLinear ? kNoLinear : linear + (f - run.begin)};
}

}  // namespace

std::vector<std::string> number_namespaces(const FeatureOptions& options) {
  std::vector<std::string> names = number_namespaces(options.transforms);
  names.insert(names.end(), options.numeric.begin(), options.numeric.end());
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

FeatureMap::FeatureMap(FeatureOptions options, std::vector<NamespacePlan> known)
    : options_(std::move(options)),
      transforms_(options_.transforms, number_namespaces(options_), options_.numeric, options_.hash,
                  options_.hash_seed) {
  const bool is_new = known.empty();
  for (NamespacePlan& plan : known) {
    for (std::uint32_t field : plan.fields) field_count_ = std::max(field_count_, field + 1);
    fieldless_ += options_.fields.empty() && plan.keep && plan.fields.empty();
    add_plan(std::move(plan));
  }
  if (!options_.fields.empty()) {
    if (field_count_ > options_.fields.size()) {
      throw std::runtime_error("a stored namespace belongs to field " +
                               std::to_string(field_count_ - 1) + ", but --field names only " +
                               std::to_string(options_.fields.size()) +
                               " fields; the file is damaged");
    }
    field_count_ = static_cast<std::uint32_t>(options_.fields.size());
  }
  for (const Transform& transform : options_.transforms) {
    if (plan_by_name_.contains(transform.name)) continue;
    if (!is_new) {
      throw std::runtime_error("the stored namespaces lack " + transform.name +
                               ", which --transform makes; the file is damaged");
    }
    add_plan(plan(transform.name, true));
  }
}

std::uint32_t FeatureMap::add_plan(NamespacePlan plan) {
  const auto index = static_cast<std::uint32_t>(plans_.size());
  plan_by_name_.emplace(plan.name, index);
  if (!text::NamespaceNames::is_name_of_shared(plan.name)) {
    plan_by_hash_.emplace(text::hash_namespace(plan.name, options_.hash_seed, options_.hash),
                          index);
  }
  transforms_.bind(plan.name, index);
  plan_of_plan_.push_back(index);
  several_fields_ |= plan.fields.size() > 1;
  plans_.push_back(std::move(plan));
  routes_.push_back(route(plans_.back()));
  return index;
}

/// Names of one hash are names of one namespace: their features have the same hashes, too.
std::uint32_t FeatureMap::find_plan(const std::string& name) const {
  if (text::NamespaceNames::is_name_of_shared(name)) {
    const auto found = plan_by_name_.find(name);
    return found != plan_by_name_.end() ? found->second : kUnmet;
  }
  const auto found =
      plan_by_hash_.find(text::hash_namespace(name, options_.hash_seed, options_.hash));
  return found != plan_by_hash_.end() ? found->second : kUnmet;
}

std::vector<std::string> FeatureMap::field_names() const {
  std::vector<std::string> names(field_count_);
  for (const NamespacePlan& plan : plans_) {
    for (std::uint32_t field : plan.fields) {
      names[field] += (names[field].empty() ? "" : ",") + plan.name;
    }
  }
  return names;
}

bool FeatureMap::has_met(const text::ExampleChunk& chunk, const text::Example& example) const {
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    if (!has_met(chunk.runs[r].name)) return false;
  }
  return true;
}

std::uint32_t FeatureMap::count_unmet(const text::ExampleChunk& chunk,
                                      const text::Example& example) const {
  std::uint32_t count = 0;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    count += !has_met(chunk.runs[r].name);
  }
  return count;
}

void FeatureMap::meet(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
                      std::size_t example, bool grow) {
  const text::Example& e = chunk.examples[example];
  for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
    const std::uint32_t id = chunk.runs[r].name;
    if (id < plan_of_.size() && plan_of_[id] != kUnmet) continue;
    const std::string name(names.name(id));
    const std::uint32_t known = find_plan(name);
    if (known != kUnmet && transforms_.makes(known)) {
      throw BadExample(chunk.source, "line " + std::to_string(e.line) + " has a namespace " + name +
                                         ", which is the name of what --transform makes; give the "
                                         "transform a name that is not in the data");
    }
    meet(id, name, grow);
  }
}

void FeatureMap::meet(std::uint32_t id, const std::string& name, bool grow) {
  if (id >= plan_of_.size()) plan_of_.resize(id + std::size_t{1}, kUnmet);
  if (const std::optional<std::uint32_t> slot = transforms_.number_slot(name)) {
    plan_of_[id] = *slot;
  } else {
    const std::uint32_t known = find_plan(name);
    plan_of_[id] = known != kUnmet ? known : add_plan(plan(name, grow));
  }
  if (!transforms_.empty()) return;
  usual_.resize(plan_of_.size(), {0, 0, UsualRoute::kUnusual});
  usual_[id] = usual_route(plan_of_[id]);
  usual_names_ += usual_[id].field >= 0;
}

void FeatureMap::close_names(text::NamespaceNames& names) const {
  const auto add = [&](const std::vector<std::string>& some) {
    for (const std::string& name : some) names.intern(name);
  };
  for (const NamespacePlan& plan : plans_) names.intern(plan.name);
  for (const auto* some : {&options_.ignore, &options_.keep, &options_.linear}) add(*some);
  for (const auto* lists : {&options_.interactions, &options_.fields}) {
    for (const std::vector<std::string>& list : *lists) add(list);
  }
  for (const Transform& transform : options_.transforms) add(transform.sources);
  for (const std::string& space : number_namespaces(options_)) {
    names.intern(text::number_run_name(space));
  }
  names.close(options_.hash_seed, options_.hash);
}

void FeatureMap::meet_known(const text::NamespaceNames& names) {
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    const std::string name(names.name(id));
    const std::uint32_t plan = find_plan(name);
    const bool known =
        transforms_.number_slot(name).has_value() || (plan != kUnmet && !transforms_.makes(plan));
    if (known || names.is_shared(id)) meet(id, name, false);
  }
}

std::vector<std::string> FeatureMap::unread() const {
  return transforms_.unread([&](std::uint32_t plan) {
    if (plan == kUnmet) return false;
    return transforms_.makes(plan) || std::ranges::find(plan_of_, plan) != plan_of_.end();
  });
}

bool FeatureMap::known_exactly(const std::string& selector) const {
  return plan_by_name_.contains(selector) ||
         std::ranges::find(options_.transforms, selector, &Transform::name) !=
             options_.transforms.end();
}

bool FeatureMap::any_selects(const std::vector<std::string>& selectors,
                             const std::string& name) const {
  return std::any_of(selectors.begin(), selectors.end(), [&](const std::string& selector) {
    return selects(selector, name, known_exactly(selector));
  });
}

bool FeatureMap::keeps(const std::string& name) const {
  return std::ranges::find(options_.numeric, name) == options_.numeric.end() &&
         !any_selects(options_.ignore, name) &&
         (options_.keep.empty() || any_selects(options_.keep, name));
}

NamespacePlan FeatureMap::plan(const std::string& name, bool grow) {
  NamespacePlan plan;
  plan.name = name;
  plan.keep = keeps(name);
  plan.linear = options_.linear_all || any_selects(options_.linear, name);
  std::uint32_t selector = 0;
  for (const std::vector<std::string>& interaction : options_.interactions) {
    for (const std::string& text : interaction) {
      if (selects(text, name, known_exactly(text))) plan.selectors.push_back(selector);
      ++selector;
    }
  }
  if (plan.keep) assign_fields(plan, grow);
  return plan;
}

FeatureMap::Route FeatureMap::route(const NamespacePlan& plan) {
  Route route = {Route::kNone, Route::kNone};
  if (plan.keep && plan.linear) route.group = plan.fields.empty() ? 0 : plan.fields[0] + 1;
  if (!plan.fields.empty())
    route.field = plan.fields.size() == 1 ? plan.fields[0] : Route::kSeveral;
  return route;
}

void FeatureMap::assign_fields(NamespacePlan& plan, bool grow) {
  if (options_.fields.empty()) {
    if (!grow) return;
    if (field_count_ >= options_.max_fields) {
      ++fieldless_;
    } else {
      plan.fields.push_back(field_count_++);
    }
    return;
  }
  for (std::uint32_t field = 0; field < options_.fields.size(); ++field) {
    if (any_selects(options_.fields[field], plan.name)) plan.fields.push_back(field);
  }
}

std::size_t FeatureMap::map(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                            FeatureBatch& out) const {
  return transforms_.empty() ? map_each<false>(chunk, first, count, out)
                             : map_each<true>(chunk, first, count, out);
}

template <bool kCopies>
std::size_t FeatureMap::map_each(const text::ExampleChunk& chunk, std::size_t first,
                                 std::size_t count, FeatureBatch& out) const {
  const text::ExampleChunk& from = kCopies ? out.derived.chunk : chunk;
  const std::uint32_t* plan_of = kCopies ? plan_of_plan_.data() : plan_of_.data();
  const std::size_t full = out.linear.size() + out.field_features.size() + text::kMaxFeatures;
  const bool all_usual = usual_names_ == usual_.size() && chunk.name_limit <= usual_.size();
  for (std::size_t i = first; i < first + count; ++i) {
    if (i > first && out.linear.size() + out.field_features.size() > full) return i - first;
    const text::Example& example = chunk.examples[i];
    const bool usual = !kCopies && map_usual(chunk, example, all_usual, out);
    if (!usual && !has_met(chunk, example)) return i - first;
    out.label.push_back(example.label);
    out.importance.push_back(example.importance);
    out.initial.push_back(example.initial);
    if (kCopies) {
      transforms_.apply(plan_of_, chunk, example, out.derived);
      out.numbers.insert(out.numbers.end(), out.derived.numeric.begin(), out.derived.numeric.end());
    }
    const text::Example& mapped = kCopies ? from.examples[0] : example;
    if (!usual) {
      order_runs(from, mapped, plan_of, out);
      map_linear(from, mapped, plan_of, out);
      if (out.keep_origins) note_origin(kCopies, out);
      if (options_.field_features) map_fields(from, mapped, plan_of, out);
    }
    out.runs_begin.push_back(static_cast<std::uint32_t>(out.runs.size()));
    out.field_features_begin.push_back(static_cast<std::uint32_t>(out.field_features.size()));
  }
  return count;
}

/// To out.run_order, the example's runs, those of one namespace as one piece after the other where
/// its first one is: the line is then as if it had not been cut.
void FeatureMap::order_runs(const text::ExampleChunk& chunk, const text::Example& example,
                            const std::uint32_t* plan_of, FeatureBatch& out) const {
  const std::uint32_t count = example.runs_end - example.runs_begin;
  out.run_order.resize(count);
  std::iota(out.run_order.begin(), out.run_order.end(), example.runs_begin);
  out.plans_seen.start(plans_.size());
  bool again = false;
  for (const std::uint32_t r : out.run_order) {
    again |= out.plans_seen.again(plan_of[chunk.runs[r].name]);
  }
  if (!again) return;
  // By hash, as namespaces that are not known share a plan.
  const auto hash = [&](std::uint32_t r) { return chunk.runs[r].hash; };
  std::ranges::stable_sort(out.run_order, {}, hash);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;  // of the namespace's first, itself
  pieces.reserve(count);
  for (const std::uint32_t r : out.run_order) {
    const bool goes_on = !pieces.empty() && hash(pieces.back().second) == hash(r);
    pieces.emplace_back(goes_on ? pieces.back().first : r, r);
  }
  std::ranges::sort(pieces);
  std::ranges::transform(pieces, out.run_order.begin(),
                         [](const auto& piece) { return piece.second; });
}

/// One LinearRun per namespace. `scratch` afterwards holds, for each of the example's runs, the
/// place of its first feature in out.linear (kNoLinear: not linear), which map_fields reads.
void FeatureMap::map_linear(const text::ExampleChunk& chunk, const text::Example& example,
                            const std::uint32_t* plan_of, FeatureBatch& out) const {
  if (!options_.interactions.empty()) {
    append_interactions(options_, plans_, plan_of, chunk, out);
  }
  // Written through pointers into arrays of full size: a push_back per feature is most of the work.
  const std::size_t runs = example.runs_end - example.runs_begin;
  out.scratch.resize(runs);
  auto at = static_cast<std::uint32_t>(out.linear.size());
  std::vector<Feature>& linear = out.linear.own();
  linear.resize(at + count_features(chunk, example));
  const std::size_t first_run = out.linear_runs.size();
  out.linear_runs.resize(first_run + runs);
  LinearRun* const first = out.linear_runs.data() + first_run;
  LinearRun* next_run = first;
  std::uint32_t last_hash = 0;
  for (const std::uint32_t r : out.run_order) {
    const text::NamespaceRun& run = chunk.runs[r];
    const std::uint32_t group = routes_[plan_of[run.name]].group;
    const bool used = group != Route::kNone && run.begin != run.end;
    out.scratch[r - example.runs_begin] = used ? at : kNoLinear;
    if (!used) continue;
    const std::uint32_t begin = at;
    for (std::uint32_t f = run.begin; f < run.end; ++f) linear[at++] = chunk.features[f];
    if (next_run != first && run.hash == last_hash) {
      next_run[-1].end = at;
    } else {
      *next_run++ = {group, begin, at};
    }
    last_hash = run.hash;
  }
  linear.resize(at);
  out.linear_runs.resize(static_cast<std::size_t>(next_run - out.linear_runs.data()));
  out.linear_runs_begin.push_back(static_cast<std::uint32_t>(out.linear_runs.size()));
}

/// Of the example whose linear features have been mapped, who is not usual.
void FeatureMap::note_origin(bool derived, FeatureBatch& out) {
  const auto at = static_cast<std::uint32_t>(out.places.size());
  out.origins.push_back({0, derived ? FeatureBatch::kNoPlaces : at});
  if (!derived) out.places.insert(out.places.end(), out.scratch.begin(), out.scratch.end());
}

/// Runs are counted by field, and then placed.
void FeatureMap::map_fields(const text::ExampleChunk& chunk, const text::Example& example,
                            const std::uint32_t* plan_of, FeatureBatch& out) const {
  // Behind what map_linear left in scratch: where the runs of each field begin among those of all
  // fields, and these, in the order of the line.
  std::vector<std::uint32_t>& scratch = out.scratch;
  const std::size_t runs = scratch.size(), placed = runs + field_count_ + 1;
  scratch.resize(placed, 0);
  const auto each_run = [&](auto visit) {
    for (const std::uint32_t r : out.run_order) {
      if (chunk.runs[r].begin == chunk.runs[r].end) continue;
      for (const std::uint32_t field : plans_[plan_of[chunk.runs[r].name]].fields) visit(field, r);
    }
  };
  std::size_t features = 0;
  each_run([&](std::uint32_t field, std::uint32_t r) {
    ++scratch[runs + field + 1];
    features += chunk.runs[r].end - chunk.runs[r].begin;
  });
  for (std::size_t i = runs + 1; i < placed; ++i) scratch[i] += scratch[i - 1];
  scratch.resize(placed + scratch[placed - 1]);
  // Each field's begin becomes its end, which is where the next one began.
  each_run(
      [&](std::uint32_t field, std::uint32_t r) { scratch[placed + scratch[runs + field]++] = r; });
  auto at = static_cast<std::uint32_t>(out.field_features.size());
  out.field_features.resize(at + features);
  std::uint32_t next = 0;
  for (std::uint32_t field = 0; field < field_count_; ++field) {
    const std::uint32_t begin = at;
    for (; next < scratch[runs + field]; ++next) {
      const std::uint32_t r = scratch[placed + next];
      const text::NamespaceRun& run = chunk.runs[r];
      const std::uint32_t linear = scratch[r - example.runs_begin];
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        out.field_features[at++] = field_feature(chunk, run, f, linear);
      }
    }
    if (begin != at) out.runs.push_back({field, begin, at});
  }
}

}  // namespace leveret::feature
