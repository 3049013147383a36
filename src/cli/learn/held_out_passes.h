/// Several passes of `train`, and the examples that are held out of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/learn/pass_options.h"
#include "cli/learn/train_summary.h"
#include "stream/held_out_source.h"
#include "train/held_out.h"

namespace leveret::cli {

/// One thread.
class HeldOutPasses {
 public:
  /// `before`: of the run that is gone on with.
  HeldOutPasses(const PassOptions& options, unsigned passes,
                const std::optional<train::BestPass>& before);

  /// std::runtime_error where the best model cannot be saved as `path` again and again. Empty: it
  /// is not.
  static void check_target(const std::string& path);
  /// Notes in the file of the best model that its run has ended, whichever pass was its last.
  static void note_ended(const std::string& path);

  /// The examples of a pass over `all` that are learned. `whole` is told of its chunks.
  std::unique_ptr<stream::ExampleSource> learned(std::unique_ptr<stream::ExampleSource> all,
                                                 stream::HeldOutSource::Whole whole) const;
  /// The others.
  std::unique_ptr<stream::ExampleSource> held_out(std::unique_ptr<stream::ExampleSource> all) const;

  /// Pass `pass`, counted from 1, is over, and the model says this of what is held out. Whether
  /// that is the best so far.
  bool end_pass(std::uint32_t pass, const train::HeldOutFigures& figures,
                const model::Model& model);
  /// Whether no more passes are worth it.
  bool is_enough() const { return judge_.is_enough(); }

  /// The figures of the last pass.
  const metrics::MetricsSnapshot& last() const { return last_.figures; }
  const train::BestPass& best() const { return judge_.best(); }
  bool has_best() const { return best().pass > 0; }
  /// For the summary.
  PassFigures figures() const;
  /// A warning where no pass could be told to be the best; else empty.
  std::string warning() const;

 private:
  const unsigned passes_;
  train::PassJudge judge_;
  train::HeldOutFigures last_, best_;
  std::uint64_t best_weights_ = 0;
  bool any_ended_ = false;
};

}  // namespace leveret::cli
