/// Scores text by one version of one model, in one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/context_cache.h"
#include "daemon/counters.h"
#include "predict/context_predictor.h"
#include "predict/outcome.h"
#include "predict/predictor.h"
#include "schema/request_rows.h"
#include "serve/served.h"
#include "skew/skew.h"
#include "text/parser.h"

namespace leveret::daemon {

struct ScorerOptions {
  /// Namespaces that contexts have. Empty: those that the context of a request has.
  std::vector<std::string> context;
  bool scores = false;                ///< predictions are log-odds, not probabilities
  std::uint32_t max_line = 1u << 20;  ///< bytes; a longer line is bad
  /// Is told what is remarkable of the lines for a model, of each kind and namespace once by each
  /// scorer; from any thread. Empty: nobody wants to know.
  std::function<void(const std::string& model, const skew::SkewFinding&)> tell_skew = {};
};

/// One thread's. It keeps its version of the model alive.
class Scorer {
 public:
  /// The scorer of a request's candidates: a context, and a predictor that it is for.
  class Context;

  /// All outlive it. `name`: the model's.
  Scorer(std::shared_ptr<const serve::Served> served, const std::string& name,
         const ScorerOptions& options, ContextCache& cache, ModelCounts& counts);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  const serve::Served& served() const { return *served_; }
  ModelCounts& counts() { return counts_; }
  /// The number that is answered: its probability, or its log-odds; NaN while there is no model.
  float number(const predict::Outcome& outcome) const {
    if (served_->is_nothing()) return std::numeric_limits<float>::quiet_NaN();
    return options_.scores ? outcome.score : outcome.probability;
  }

  /// Makes lines of its raw rows; null where the model has no schema.
  schema::RequestRows* rows() { return rows_ ? &*rows_ : nullptr; }
  /// Bytes of a line.
  std::size_t max_line() const { return options_.max_line; }

  /// Parses `chunk.bytes`. With `shared_label` "shared" is as no label.
  void parse(text::ExampleChunk& chunk, bool shared_label);

  /// The example is the context of candidates to come; found where it has been before.
  std::shared_ptr<Context> context(const text::ExampleChunk& chunk, std::size_t example);

  /// The cost of each candidate of this context beside its own, as bytes of text, if it has to be
  /// scored with the whole context.
  static std::size_t context_cost(const Context& context);

  /// Appends outcomes of examples [first, first + count), candidates of `context` unless it is
  /// null.
  void score(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             Context* context, predict::Outcomes& outcomes);

 private:
  struct ByContext;
  std::shared_ptr<ByContext> predictor_for(const text::ExampleChunk& chunk,
                                           const text::Example& example);
  void count_unknown(const text::ExampleChunk& chunk);
  skew::SkewCounter* skew() { return served_->is_nothing() ? nullptr : &skew_; }
  void tell_skew();

  const std::shared_ptr<const serve::Served> served_;
  const std::string& name_;
  const ScorerOptions& options_;
  ContextCache& cache_;
  ModelCounts& counts_;
  text::Parser parser_, shared_parser_;
  std::optional<schema::RequestRows> rows_;
  predict::Predictor whole_;
  skew::SkewCounter skew_;
  /// By the ids of the namespaces that its contexts have.
  std::map<std::vector<std::uint32_t>, std::shared_ptr<ByContext>> by_context_;
  std::uint64_t uses_ = 0;  ///< of these
};

}  // namespace leveret::daemon
