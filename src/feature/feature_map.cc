#include "feature/feature_map.h"

#include <algorithm>
#include <stdexcept>

#include "feature/interactions.h"
#include "feature/selector.h"

namespace leveret::feature {

FeatureMap::FeatureMap(FeatureOptions options, std::vector<NamespacePlan> known)
    : options_(std::move(options)), plans_(std::move(known)) {
  for (std::uint32_t i = 0; i < plans_.size(); ++i) {
    plan_by_name_.emplace(plans_[i].name, i);
    for (std::uint32_t field : plans_[i].fields) field_count_ = std::max(field_count_, field + 1);
    fieldless_ += options_.fields.empty() && plans_[i].keep && plans_[i].fields.empty();
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
    const std::uint32_t name = chunk.runs[r].name;
    if (name >= plan_of_.size() || plan_of_[name] == kUnmet) return false;
  }
  return true;
}

void FeatureMap::meet(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
                      std::size_t example, bool grow) {
  const text::Example& e = chunk.examples[example];
  for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
    const std::uint32_t id = chunk.runs[r].name;
    if (id >= plan_of_.size()) plan_of_.resize(id + std::size_t{1}, kUnmet);
    if (plan_of_[id] != kUnmet) continue;
    const std::string name(names.name(id));
    auto [found, is_new] = plan_by_name_.emplace(name, static_cast<std::uint32_t>(plans_.size()));
    if (is_new) plans_.push_back(plan(name, grow));
    plan_of_[id] = found->second;
  }
}

bool FeatureMap::known_exactly(const std::string& selector) const {
  return plan_by_name_.contains(selector);
}

bool FeatureMap::any_selects(const std::vector<std::string>& selectors,
                             const std::string& name) const {
  return std::any_of(selectors.begin(), selectors.end(), [&](const std::string& selector) {
    return selects(selector, name, known_exactly(selector));
  });
}

NamespacePlan FeatureMap::plan(const std::string& name, bool grow) {
  NamespacePlan plan;
  plan.name = name;
  plan.keep = !any_selects(options_.ignore, name) &&
              (options_.keep.empty() || any_selects(options_.keep, name));
  plan.linear = options_.linear_all || any_selects(options_.linear, name);
  std::uint32_t selector = 0;
  for (const std::vector<std::string>& interaction : options_.interactions) {
    for (const std::string& text : interaction) {
      if (text == ":" || selects(text, name, known_exactly(text))) plan.selectors.push_back(selector);
      ++selector;
    }
  }
  if (plan.keep) assign_fields(plan, grow);
  return plan;
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
  for (std::size_t i = first; i < first + count; ++i) {
    const text::Example& example = chunk.examples[i];
    if (!has_met(chunk, example)) return i - first;
    out.label.push_back(example.label);
    out.importance.push_back(example.importance);
    out.initial.push_back(example.initial);
    map_linear(chunk, example, out);
    if (options_.field_features) map_fields(chunk, example, out);
    out.runs_begin.push_back(static_cast<std::uint32_t>(out.runs.size()));
  }
  return count;
}

/// One LinearRun per namespace run. `scratch` afterwards holds, for each of the example's runs, the
/// place of its first feature in out.linear (kNoLinear: not linear), which map_fields reads.
void FeatureMap::map_linear(const text::ExampleChunk& chunk, const text::Example& example,
                            FeatureBatch& out) const {
  if (!options_.interactions.empty()) {
    append_interactions(options_, plans_, plan_of_, chunk, example, out);
  }
  out.scratch.clear();
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const NamespacePlan& plan = plans_[plan_of_[run.name]];
    const auto begin = static_cast<std::uint32_t>(out.linear.size());
    const bool used = plan.keep && plan.linear && run.begin != run.end;
    out.scratch.push_back(used ? begin : kNoLinear);
    if (!used) continue;
    out.linear.insert(out.linear.end(), chunk.features.begin() + run.begin,
                      chunk.features.begin() + run.end);
    out.linear_runs.push_back({plan.fields.empty() ? 0 : plan.fields[0] + 1, begin,
                               static_cast<std::uint32_t>(out.linear.size())});
  }
  out.linear_runs_begin.push_back(static_cast<std::uint32_t>(out.linear_runs.size()));
}

/// Fields come nearly sorted (their ids follow the order of first appearance), so runs are placed
/// by insertion; a field that comes again within a line is gathered into one run.
void FeatureMap::map_fields(const text::ExampleChunk& chunk, const text::Example& example,
                            FeatureBatch& out) const {
  // Behind what map_linear left in scratch: pairs (field, run), insertion-sorted by field, stable.
  std::vector<std::uint32_t>& order = out.scratch;
  const std::size_t base = order.size();
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    if (chunk.runs[r].begin == chunk.runs[r].end) continue;
    for (std::uint32_t field : plans_[plan_of_[chunk.runs[r].name]].fields) {
      std::size_t at = order.size();
      order.insert(order.end(), {field, r});
      for (; at > base && order[at - 2] > field; at -= 2) {
        order[at] = order[at - 2];
        order[at + 1] = order[at - 1];
      }
      order[at] = field;
      order[at + 1] = r;
    }
  }
  const std::size_t first_run = out.runs.size();
  for (std::size_t i = base; i < order.size(); i += 2) {
    const text::NamespaceRun& run = chunk.runs[order[i + 1]];
    const std::uint32_t linear = order[order[i + 1] - example.runs_begin];
    const auto begin = static_cast<std::uint32_t>(out.field_features.size());
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      const Feature& feature = chunk.features[f];
      out.field_features.push_back({feature.hash, feature.value,
                                    linear == kNoLinear ? kNoLinear : linear + (f - run.begin)});
    }
    const auto end = static_cast<std::uint32_t>(out.field_features.size());
    if (out.runs.size() > first_run && out.runs.back().field == order[i]) {
      out.runs.back().end = end;
    } else {
      out.runs.push_back({order[i], begin, end});
    }
  }
}

}  // namespace leveret::feature
