/// Scores of requests: one context (a user, a page) and any number of candidates (ads) for it. What
/// does not depend on the candidate is computed once for a request: the context's features are
/// looked up, their linear sums, pairs and embeddings made, their rows gathered for the pairs with
/// candidates, and what they add to towers and to the first hidden layer (FW paper, section 5,
/// which keeps less).
///
/// Scores are those of Predictor, but for rounding. What the context's part cannot be told apart
/// for goes the way of Predictor, which `ContextCounts::uncached` counts: models with interactions
/// or transforms, or a block whose work contexts do not keep, a context with features of a
/// candidates' field, a candidate with features of a context's field, or of a namespace that the
/// context has features of, too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feature/line_limit.h"
#include "predict/cached_context.h"
#include "predict/predictor.h"

namespace leveret::predict {

/// Since the predictor was made.
struct ContextCounts {
  std::uint64_t requests = 0;
  std::uint64_t candidates = 0;
  std::uint64_t uncached = 0;   ///< of the candidates, those that were scored as a whole
  std::uint64_t too_large = 0;  ///< of these, those that have more features than a line may have
  std::uint64_t looked_up = 0;  ///< linear features that were searched for in the model
};

/// One thread's; many may share the model, which lives as long as one of them. No copies, no moves.
class ContextPredictor {
 public:
  /// `context`: selectors (feature/selector.h) of the namespaces that contexts have. A field all of
  /// whose namespaces these are is a context's, every other one a candidates'. `names` are those of
  /// the parser whose chunks will come; they outlive the predictor.
  ContextPredictor(std::shared_ptr<const model::Model> model, const text::NamespaceNames& names,
                   const kernels::Kernels& kernels, std::vector<std::string> context);
  ContextPredictor(const ContextPredictor&) = delete;
  ContextPredictor& operator=(const ContextPredictor&) = delete;

  /// An example of the chunk is the context from now on, all of its features; they are copied. Its
  /// label, initial score and tag are not looked at.
  void set_context(const text::ExampleChunk& chunk, std::size_t example);
  /// The same, made in `context`, which lives until another context is set.
  void set_context(const text::ExampleChunk& chunk, std::size_t example, CachedContext& context);
  /// One that was made before is the context from now on, and lives until another is set.
  void use_context(CachedContext& context);

  /// Appends an outcome for each of the candidates [first, first + count) of the chunk: what
  /// Predictor says to an example with the context's features and then the candidate's. These
  /// examples `skew` counts, unless it is null.
  void predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
               Outcomes& outcomes, skew::SkewCounter* skew = nullptr);

  /// The same of examples that have both: those that follow each other with equal features of
  /// context namespaces are a request.
  void predict_lines(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                     Outcomes& outcomes, skew::SkewCounter* skew = nullptr);

  /// Whether the model is one whose contexts can be cached.
  bool caches_contexts() const { return why_not_cached_.empty(); }
  /// Why it is none, in words.
  const std::string& why_not_cached() const { return why_not_cached_; }
  const ContextCounts& counts() const { return counts_; }
  /// The context's features: one example, or none yet.
  const text::ExampleChunk& context() const { return at_->features; }

 private:
  /// Candidates that are mapped together, and that share a pass over the hidden layers.
  static constexpr std::size_t kWindow = 32, kTogether = 8;

  /// Of which examples the candidates are parts, or null: of none.
  struct Wholes {
    const text::ExampleChunk* chunk = nullptr;
    std::size_t first = 0;
  };
  /// A place for candidates' outcomes, and who counts them, or null.
  struct Results {
    Outcomes& outcomes;
    skew::SkewCounter* skew;
  };

  bool is_context(std::uint32_t name);
  bool has_same_context(const text::ExampleChunk& chunk, const text::Example& example);
  void start_context();
  bool make_context();
  void note_shared_spaces();
  bool has_shared_space(const text::ExampleChunk& chunk, const text::Example& example) const;
  void look_up(const feature::FeatureBatch& batch, tape::Tape& tape, std::size_t example);

  void predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
               const Wholes& wholes, const Results& results);
  void predict_window(const text::ExampleChunk& chunk, std::size_t first, const Wholes& wholes,
                      Outcomes& outcomes);
  bool is_all(bool of_context, const tape::Tape& tape, std::size_t b) const;
  void forward(std::size_t b);
  void forward_together();
  void add_context();
  tape::BatchSums sums_in(std::vector<float>& sums) const;
  void predict_wholes(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                      const Wholes& wholes, const Results& results);
  void count_skew(const text::ExampleChunk& chunk, std::size_t first, const Wholes& wholes,
                  skew::SkewCounter& skew);

  const std::shared_ptr<const model::Model> model_;
  const text::NamespaceNames& names_;
  const std::vector<std::string> selectors_;
  const block::Config config_;
  const tape::FieldSplit split_;
  const net::Network network_;
  const std::string why_not_cached_;
  const tape::SumDecls declared_;  ///< sums of contexts and candidates
  const tape::Partition context_, candidate_;
  // What the blocks have for these, and for what everyone has.
  const net::Shares of_context_, of_candidates_, of_everyone_;
  Predictor whole_;
  feature::FeatureMap features_;
  skew::SeenLines lines_seen_;           ///< contexts
  std::vector<signed char> is_context_;  ///< by name: -1 not asked yet

  // The context at hand.
  CachedContext own_;  ///< unless the caller has a place for it
  CachedContext* at_ = &own_;
  feature::FeatureBatch context_batch_;
  tape::Tape context_tape_;
  model::Lookup context_lookup_;

  // Candidates.
  text::ExampleChunk parts_;  ///< of predict_lines
  text::ExampleChunk joined_;
  std::optional<feature::LineLimit> limit_;  ///< of what is joined
  feature::FeatureBatch batch_;
  tape::Tape tape_;
  model::Lookup lookup_;
  std::vector<float> sums_;  ///< of those on the tape, as tape::WholeExamples are
  std::array<float, kTogether> whole_features_{}, whole_squares_{};
  std::array<bool, kTogether> whole_ones_{};  ///< of those on the tape, who are scored as a whole
  ContextCounts counts_;
};

}  // namespace leveret::predict
