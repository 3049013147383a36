/// What each namespace of a line adds to its prediction, told by predictions of parts of the line:
/// so it holds for any model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "predict/predictor.h"

namespace leveret::predict {

/// In log-odds.
struct Explanation {
  struct Part {
    std::uint32_t name;  ///< a namespace, by its id
    float contribution;
  };
  float base = 0;           ///< the score of a line without features
  float score = 0;          ///< of the line
  std::vector<Part> parts;  ///< in the order in which the line has its namespaces, each once
};

/// One thread's.
class Explainer {
 public:
  /// As Predictor.
  Explainer(const std::shared_ptr<const model::Model>& model, const text::NamespaceNames& names,
            const kernels::Kernels& kernels);

  /// Contributions that sum to score - base: Shapley values, estimated by `orders` random orders in
  /// which namespaces join the line, each also backwards (Strumbelj and Kononenko 2014, algorithm
  /// 1; antithetic orders: Mitchell et al. 2022). They depend on the line alone. Costs 2 `orders`
  /// predictions for each namespace, but for those that the model has not learned and that say
  /// nothing: these are found together.
  Explanation explain(const text::ExampleChunk& chunk, std::size_t example, std::size_t orders);

  /// Contributions by leaving one namespace out at a time: how far the score would move. They have
  /// no sum that means something. Costs a prediction for each namespace, but for the same.
  Explanation leave_out(const text::ExampleChunk& chunk, std::size_t example);

  /// Features and namespaces that were scored so far: what all of it has cost.
  std::uint64_t scored() const { return scored_; }

 private:
  Explanation begin(const text::ExampleChunk& chunk, const text::Example& example);
  void find_idle(const text::ExampleChunk& chunk, const text::Example& example,
                 const Explanation& of);
  float score_without_marked(const text::ExampleChunk& chunk, const text::Example& example);
  bool is_known(std::uint32_t name) const;
  void add_order(const text::ExampleChunk& chunk, const text::Example& example,
                 const std::vector<std::size_t>& order, Explanation& to);
  void begin_marks();
  bool mark(std::uint32_t name);
  void find_number_runs(const text::ExampleChunk& chunk, const text::Example& example);
  bool is_marked(std::uint32_t name) const;
  template <class Wanted>
  void add_part(const text::ExampleChunk& chunk, const text::Example& example,
                const Wanted& wanted);
  void score_parts();

  Predictor predictor_;
  const text::NamespaceNames& names_;
  std::set<std::string, std::less<>> known_;  ///< namespaces that the model has learned
  std::vector<std::size_t> at_work_;          ///< parts of the line that may say something
  text::ExampleChunk lines_;                  ///< parts of the line that wait to be scored
  Outcomes outcomes_;
  std::vector<float> scores_;                                     ///< of parts
  std::unordered_map<std::uint32_t, std::uint32_t> number_runs_;  ///< by namespace, of the line
  std::vector<std::uint64_t> marks_;  ///< by name: the time when it was marked
  std::uint64_t now_ = 0;
  std::uint64_t scored_ = 0;
};

}  // namespace leveret::predict
