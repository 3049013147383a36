#include "cli/look/namespace_worth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "block/logistic.h"
#include "cli/score/figures.h"
#include "kernels/dispatch.h"
#include "metrics/figures_json.h"
#include "predict/explainer.h"

namespace leveret::cli {
namespace {

/// Sums, by the ids of namespaces.
class Sums {
 public:
  void add(const predict::Explanation& of, const text::Example& example) {
    if (!std::isfinite(of.score)) {
      ++not_finite_;
      return;
    }
    const double importance = example.importance;
    const double loss = loss_of(of.score, example.label);
    ++examples_;
    weight_ += importance;
    loss_ += importance * loss;
    for (const predict::Explanation::Part& part : of.parts) {
      if (!std::isfinite(part.contribution)) continue;
      if (part.name >= all_.size()) all_.resize(part.name + std::size_t{1});
      Sum& sum = all_[part.name];
      ++sum.lines;
      sum.weight += importance;
      sum.loss += importance * (loss_of(of.score - part.contribution, example.label) - loss);
      sum.moved += importance * std::fabs(part.contribution);
    }
  }

  NamespacesWorth take(const text::NamespaceNames& names) const {
    NamespacesWorth worth{examples_, not_finite_, loss_ / weight_, {}};
    for (std::uint32_t id = 0; id < all_.size(); ++id) {
      const Sum& sum = all_[id];
      if (sum.lines == 0) continue;
      worth.all.push_back(
          {std::string(names.name(id)), sum.lines, sum.loss / weight_, sum.moved / sum.weight});
    }
    std::ranges::stable_sort(worth.all, std::greater(), &NamespaceWorth::loss);
    return worth;
  }
  std::uint64_t examples() const { return examples_; }

 private:
  struct Sum {
    std::uint64_t lines = 0;
    double weight = 0, loss = 0, moved = 0;
  };
  static double loss_of(float score, float label) {
    return -std::log(std::max<double>(block::sigmoid(label > 0 ? score : -score), 0x1p-24));
  }

  std::uint64_t examples_ = 0, not_finite_ = 0;
  double weight_ = 0, loss_ = 0;
  std::vector<Sum> all_;
};

}  // namespace

NamespacesWorth namespaces_worth(const std::shared_ptr<const model::Model>& model,
                                 const InputOptions& data) {
  text::NamespaceNames names;  // not closed: those that the model does not know are told, too
  predict::Explainer explainer(model, names, kernels::active());
  const auto tally = bad_line_tally(data);
  const auto source =
      open_text(data, names, parser_options(model->spec(), data, model->features().plans()));
  Sums sums;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    for (std::size_t e = 0; e < chunk.examples.size(); ++e) {
      const text::Example& example = chunk.examples[e];
      if (example.label == 0 || !(example.importance > 0)) continue;
      sums.add(explainer.leave_out(chunk, e), example);
    }
  });
  if (sums.examples() == 0) {
    throw std::runtime_error("no labelled example in the input, so there is nothing to measure");
  }
  return sums.take(names);
}

std::string worth_text(const NamespacesWorth& worth, bool json) {
  if (json) {
    nlohmann::ordered_json all{{"examples", worth.examples},
                               {"logloss", metrics::rounded(worth.logloss)}};
    if (worth.not_finite > 0) all["not_finite"] = worth.not_finite;
    all["namespaces"] = nlohmann::ordered_json::array();
    for (const NamespaceWorth& one : worth.all) {
      all["namespaces"].push_back({{"namespace", one.name},
                                   {"lines", one.lines},
                                   {"loss_added", metrics::rounded(one.loss)},
                                   {"mean_contribution", metrics::rounded(one.contribution)}});
    }
    return json_line(all);
  }
  std::string text = fmt::format("{} examples, logloss {}\n\n{:<24} {:>10} {:>14} {:>18}\n",
                                 worth.examples, figure_text(worth.logloss), "namespace", "lines",
                                 "loss added", "mean contribution");
  for (const NamespaceWorth& one : worth.all) {
    text += fmt::format("{:<24} {:>10} {:>14} {:>18}\n", cut(one.name, 24), one.lines,
                        difference_text(one.loss), figure_text(one.contribution));
  }
  if (worth.not_finite > 0) {
    text += fmt::format("{} predictions are not finite, and are left out\n", worth.not_finite);
  }
  return text;
}

}  // namespace leveret::cli
