/// Examples that are held out of several passes: what a model says of them, and which pass was best
/// by that.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "metrics/metrics.h"
#include "model/model.h"
#include "stream/example_source.h"
#include "text/namespace_names.h"

namespace leveret::train {

struct HeldOutFigures {
  metrics::MetricsSnapshot figures;
  /// There are clicks and others among them. Else their loss says nothing: it is the less, the more
  /// a model says always the same.
  bool has_both = false;
};

/// Predicts all examples of the source, in so many threads, each of them with what the model knows
/// now. The model is only read.
HeldOutFigures predict_held_out(stream::ExampleSource& source,
                                const std::shared_ptr<const model::Model>& model,
                                const text::NamespaceNames& names, const kernels::Kernels& kernels,
                                unsigned threads);

/// Facts that a run that is gone on with has to know of its passes.
struct BestPass {
  std::uint64_t period = 0;  ///< every such example is held out
  std::uint32_t pass = 0;    ///< counted from 1; 0: there is none yet
  double loss = 0;           ///< of what is held out, after this pass

  bool operator==(const BestPass&) const = default;
};

/// Which pass was best, and when it is time to stop. One thread.
class PassJudge {
 public:
  /// `patience`: so many passes without a gain are enough.
  PassJudge(BestPass before, std::uint32_t patience) : best_(before), patience_(patience) {}

  /// After pass `pass`, counted from 1: whether it is the best so far. Where the figures say
  /// nothing none is.
  bool is_best(std::uint32_t pass, const HeldOutFigures& held_out);
  /// Whether more passes are not worth it.
  bool is_enough() const { return best_.pass > 0 && passes_ - best_.pass >= patience_; }

  const BestPass& best() const { return best_; }
  /// That were judged, with those of an earlier run; but for one that has made no more than its
  /// best.
  std::uint32_t passes() const { return passes_; }

 private:
  BestPass best_;
  const std::uint32_t patience_;
  std::uint32_t passes_ = best_.pass;
};

}  // namespace leveret::train
