// FeatureMap: how many features an example will be, before it is mapped.
#include <algorithm>

#include "feature/feature_map.h"

namespace leveret::feature {

/// How many features so many features make with themselves, and with those of other groups.
/// (Products that become 0 and are left out are counted.)
class FeatureMap::Counter {
 public:
  Counter(const FeatureMap& map, FeatureCounts& counts) : map_(map), counts_(counts) {}

  double count(const text::ExampleChunk& chunk, const text::Example& example) {
    for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
      const text::NamespaceRun& run = chunk.runs[r];
      const std::uint32_t plan = map_.plan_of_[run.name];
      if (plan < map_.plans_.size()) add(plan, run.end - run.begin);
    }
    map_.transforms_.count(
        [&](std::uint32_t plan) {
          return plan < counts_.length.size() ? counts_.length[plan] : 0.0;
        },
        [&](std::uint32_t plan, double made) { add(plan, made); });
    for (const std::uint32_t plan : counts_.plans) {
      const std::size_t fields = map_.plans_[plan].fields.size();
      if (map_.plans_[plan].keep) {
        total_ += counts_.length[plan] * static_cast<double>(std::max<std::size_t>(fields, 1));
      }
    }
    // In the order in which interactions take them: it decides which group meets itself.
    if (!map_.options_.interactions.empty()) {
      std::ranges::sort(counts_.plans, {}, [&](std::uint32_t plan) -> const std::string& {
        return map_.plans_[plan].name;
      });
    }
    std::uint32_t selector = 0;
    for (const std::vector<std::string>& interaction : map_.options_.interactions) {
      if (!is_over()) expand(interaction, selector);
      selector += static_cast<std::uint32_t>(interaction.size());
    }
    for (const std::uint32_t plan : counts_.plans) counts_.length[plan] = 0;
    counts_.plans.clear();
    return total_;
  }

 private:
  using Group = FeatureCounts::Group;

  bool is_over() const { return total_ > text::kMaxFeatures; }

  void add(std::uint32_t plan, double features) {
    if (features == 0) return;
    if (counts_.length.size() <= plan) counts_.length.resize(map_.plans_.size(), 0);
    if (counts_.length[plan] == 0) counts_.plans.push_back(plan);
    counts_.length[plan] += features;
  }

  void expand(const std::vector<std::string>& selectors, std::uint32_t first_selector) {
    std::vector<Group>* const groups = counts_.groups.data();
    for (std::uint32_t p = 0; p < selectors.size(); ++p) {
      groups[p].clear();
      const bool wildcard = selectors[p] == ":";
      if (!wildcard) groups[p].emplace_back();
      for (const std::uint32_t index : counts_.plans) {
        const NamespacePlan& plan = map_.plans_[index];
        if (!plan.keep) continue;
        if (!wildcard &&
            std::ranges::find(plan.selectors, first_selector + p) == plan.selectors.end()) {
          continue;
        }
        if (wildcard) groups[p].emplace_back();
        groups[p].back().plans.push_back(index);
        groups[p].back().features += counts_.length[index];
      }
    }
    const auto ordered = [&](std::size_t p) {
      return selectors[p] == ":" && selectors[p + 1] == ":";
    };
    for (std::size_t a = 0; a < groups[0].size(); ++a) {
      for (std::size_t b = ordered(0) ? a : 0; b < groups[1].size() && !is_over(); ++b) {
        if (selectors.size() == 2) {
          total_ += pairs(groups[0][a], groups[1][b]);
          continue;
        }
        for (std::size_t c = ordered(1) ? b : 0; c < groups[2].size() && !is_over(); ++c) {
          total_ += triples(groups[0][a], groups[1][b], groups[2][c]);
        }
      }
    }
  }

  static double pairs(const Group& a, const Group& b) {
    return a.plans == b.plans ? a.features * (a.features + 1) / 2 : a.features * b.features;
  }
  static double triples(const Group& a, const Group& b, const Group& c) {
    if (a.plans == b.plans && b.plans == c.plans) {
      return a.features * (a.features + 1) * (a.features + 2) / 6;
    }
    if (b.plans == c.plans) return a.features * pairs(b, c);
    return pairs(a, b) * c.features;
  }

  const FeatureMap& map_;
  FeatureCounts& counts_;
  double total_ = 0;
};

void FeatureMap::meet_for_count(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
                                std::size_t example) {
  const text::Example& e = chunk.examples[example];
  for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
    const std::uint32_t id = chunk.runs[r].name;
    if (id >= plan_of_.size() || plan_of_[id] == kUnmet) {
      meet(id, std::string(names.name(id)), true);
    }
  }
}

double FeatureMap::count(const text::ExampleChunk& chunk, const text::Example& example,
                         FeatureCounts& counts) const {
  return Counter(*this, counts).count(chunk, example);
}

}  // namespace leveret::feature
