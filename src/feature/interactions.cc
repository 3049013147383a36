#include "feature/interactions.h"

#include <algorithm>
#include <span>

#include "text/hash.h"

namespace leveret::feature {
namespace {

/// A group is what one position of an interaction ranges over: the runs of a selector, or, for the
/// wildcard ":", those of one namespace. Run indices live in FeatureBatch::scratch.
struct Group {
  std::uint32_t begin, end;
};

class Expander {
 public:
  Expander(const std::vector<NamespacePlan>& plans, const std::uint32_t* plan_of,
           const text::ExampleChunk& chunk, FeatureBatch& out)
      : plans_(plans), plan_of_(plan_of), chunk_(chunk), out_(out) {
    out_.scratch.clear();
    full_at_ = out_.linear.size() + text::kMaxFeatures;
  }

  void expand(const std::vector<std::string>& selectors, std::uint32_t first_selector) {
    std::vector<Group> groups[3];
    for (std::size_t p = 0; p < selectors.size(); ++p) {
      if (selectors[p] == ":") {
        wildcard_groups(groups[p]);
      } else {
        groups[p].push_back(selector_group(first_selector + static_cast<std::uint32_t>(p)));
      }
    }
    for (std::size_t a = 0; a < groups[0].size(); ++a) {
      const bool ordered = selectors[0] == ":" && selectors[1] == ":";
      for (std::size_t b = ordered ? a : 0; b < groups[1].size() && !full(); ++b) {
        if (selectors.size() == 2) {
          pairs(groups[0][a], groups[1][b]);
          continue;
        }
        const bool ordered_again = selectors[1] == ":" && selectors[2] == ":";
        for (std::size_t c = ordered_again ? b : 0; c < groups[2].size() && !full(); ++c) {
          triples(groups[0][a], groups[1][b], groups[2][c]);
        }
      }
    }
  }

 private:
  std::uint32_t plan_index(std::uint32_t run) const { return plan_of_[chunk_.runs[run].name]; }
  const NamespacePlan& plan(std::uint32_t run) const { return plans_[plan_index(run)]; }

  /// Those of several namespaces in ascending byte order of the names: what the group makes with
  /// itself is then the same in whatever order they come.
  Group selector_group(std::uint32_t selector) {
    Group group{static_cast<std::uint32_t>(out_.scratch.size()), 0};
    bool one = true;
    for (const std::uint32_t run : out_.run_order) {
      const NamespacePlan& p = plan(run);
      if (!p.keep || std::ranges::find(p.selectors, selector) == p.selectors.end()) continue;
      out_.scratch.push_back(run);
      one = one && plan_index(out_.scratch[group.begin]) == plan_index(run);
    }
    group.end = static_cast<std::uint32_t>(out_.scratch.size());
    if (!one) sort_by_name(group.begin);
    return group;
  }

  /// The runs from this place in scratch on.
  void sort_by_name(std::uint32_t begin) {
    std::stable_sort(out_.scratch.begin() + begin, out_.scratch.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return plan(a).name < plan(b).name; });
  }

  /// One group per kept namespace of the example, in ascending byte order of the names.
  void wildcard_groups(std::vector<Group>& groups) {
    const std::uint32_t base = static_cast<std::uint32_t>(out_.scratch.size());
    for (const std::uint32_t run : out_.run_order) {
      if (plan(run).keep) out_.scratch.push_back(run);
    }
    sort_by_name(base);
    for (std::uint32_t i = base; i < out_.scratch.size(); ++i) {
      const bool same = i > base && plan_index(out_.scratch[i]) == plan_index(out_.scratch[i - 1]);
      if (same) {
        groups.back().end = i + 1;
      } else {
        groups.push_back({i, i + 1});
      }
    }
  }

  bool same(Group a, Group b) const {
    const auto* runs = out_.scratch.data();
    return std::equal(runs + a.begin, runs + a.end, runs + b.begin, runs + b.end);
  }

  /// Calls visit(index in chunk.features, position) for the group's features from position `from`
  /// on.
  template <class Visit>
  void each(Group group, std::size_t from, Visit visit) const {
    std::size_t position = 0;
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const text::NamespaceRun& run = chunk_.runs[out_.scratch[i]];
      for (std::uint32_t f = run.begin; f < run.end && !full(); ++f, ++position) {
        if (position >= from) visit(f, position);
      }
    }
  }

  /// A product that has become 0 is left out, as a value of 0 is in the text.
  // A group paired with itself gives combinations with repetition, as VW does.
  void pairs(Group a, Group b) {
    const bool self = same(a, b);
    each(a, 0, [&](std::uint32_t fa, std::size_t i) {
      each(b, self ? i : 0, [&](std::uint32_t fb, std::size_t) {
        emit(times(chunk_.features[fa], chunk_.features[fb]), fa, fb, kNoParent);
      });
    });
  }

  void triples(Group a, Group b, Group c) {
    const bool self_ab = same(a, b);
    const bool self_bc = same(b, c);
    each(a, 0, [&](std::uint32_t fa, std::size_t i) {
      each(b, self_ab ? i : 0, [&](std::uint32_t fb, std::size_t j) {
        const Feature ab = times(chunk_.features[fa], chunk_.features[fb]);
        each(c, self_bc ? j : 0, [&](std::uint32_t fc, std::size_t) {
          emit(times(ab, chunk_.features[fc]), fa, fb, fc);
        });
      });
    });
  }

  /// Lines that come this far were to be bad (LineLimit).
  bool full() const { return out_.linear.size() >= full_at_; }

  static Feature times(const Feature& a, const Feature& b) {
    return {text::hash_pair(a.hash, b.hash), a.value * b.value};
  }

  void emit(const Feature& feature, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (feature.value == 0) return;
    out_.linear.own().push_back(feature);
    if (out_.keep_parents) out_.parents.push_back({a, b, c});
  }

  const std::vector<NamespacePlan>& plans_;
  const std::uint32_t* plan_of_;
  const text::ExampleChunk& chunk_;
  FeatureBatch& out_;
  std::size_t full_at_ = 0;
};

}  // namespace

void append_interactions(const FeatureOptions& options, const std::vector<NamespacePlan>& plans,
                         const std::uint32_t* plan_of, const text::ExampleChunk& chunk,
                         FeatureBatch& out) {
  const auto begin = static_cast<std::uint32_t>(out.linear.size());
  Expander expander(plans, plan_of, chunk, out);
  std::uint32_t selector = 0;
  for (const std::vector<std::string>& interaction : options.interactions) {
    expander.expand(interaction, selector);
    selector += static_cast<std::uint32_t>(interaction.size());
  }
  const auto end = static_cast<std::uint32_t>(out.linear.size());
  if (begin != end) out.linear_runs.push_back({0, begin, end});
}

}  // namespace leveret::feature
