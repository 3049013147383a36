#include "cli/learn/held_out_passes.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "files/atomic_file.h"
#include "store/model_file.h"
#include "train/notes.h"

namespace leveret::cli {
namespace {

using stream::HeldOutSource;

train::BestPass begin(const PassOptions& options, const std::optional<train::BestPass>& before) {
  return before ? *before : train::BestPass{.period = options.period};
}

/// A checkpoint tells no more than the loss.
train::HeldOutFigures known_of(const train::BestPass& best) {
  train::HeldOutFigures known{metrics::Metrics().snapshot(), best.pass > 0};
  if (best.pass > 0) known.figures.logloss = best.loss;
  return known;
}

}  // namespace

HeldOutPasses::HeldOutPasses(const PassOptions& options, unsigned passes,
                             const std::optional<train::BestPass>& before)
    : passes_(passes),
      judge_(begin(options, before), static_cast<std::uint32_t>(options.patience)),
      best_(known_of(judge_.best())) {}

void HeldOutPasses::check_target(const std::string& path) {
  if (path.empty() || files::AtomicFile(path).is_temporary()) return;
  throw std::runtime_error(
      path +
      ": the best pass's model is saved more than once, so -f must be a regular file: give such a "
      "name, or --holdout_off");
}

void HeldOutPasses::note_ended(const std::string& path) {
  const store::ModelFile file = store::ModelFile::open(path);
  train::Notes notes = train::notes_of(file);
  if (!notes.input || notes.input->ended) return;
  notes.input->ended = true;
  store::save_with_notes(file, path, train::to_bytes(notes));
}

std::unique_ptr<stream::ExampleSource> HeldOutPasses::learned(
    std::unique_ptr<stream::ExampleSource> all, HeldOutSource::Whole whole) const {
  return std::make_unique<HeldOutSource>(std::move(all), best().period,
                                         HeldOutSource::Part::kLearned, std::move(whole));
}

std::unique_ptr<stream::ExampleSource> HeldOutPasses::held_out(
    std::unique_ptr<stream::ExampleSource> all) const {
  return std::make_unique<HeldOutSource>(std::move(all), best().period,
                                         HeldOutSource::Part::kHeldOut);
}

bool HeldOutPasses::end_pass(std::uint32_t pass, const train::HeldOutFigures& figures,
                             const model::Model& model) {
  any_ended_ = true;
  last_ = figures;
  if (!judge_.is_best(pass, figures)) return false;
  best_ = figures;
  best_weights_ = weight_count(model);
  return true;
}

PassFigures HeldOutPasses::figures() const {
  PassFigures passes;
  passes.period = best().period;
  passes.asked = passes_;
  passes.made = judge_.passes();
  passes.best = best().pass;
  passes.is_enough = is_enough();
  passes.held_out = has_best() ? best_.figures : last_.figures;
  passes.weights = best_weights_;
  return passes;
}

std::string HeldOutPasses::warning() const {
  if (has_best() || !any_ended_) return {};
  const metrics::MetricsSnapshot& held_out = last_.figures;
  const std::string kept = "so no pass is known to be the best, and the last one's model is kept";
  if (last_.has_both) {
    return fmt::format(
        "predictions of held out examples are not finite, {}; a smaller rate (--optimizer) may "
        "help",
        kept);
  }
  return fmt::format(
      "one of {} examples is held out, and {}, {}; hold out more (--holdout_period), or nothing "
      "(--holdout_off)",
      best().period,
      held_out.examples == 0 ? std::string("no held-out example has a label")
      : held_out.base_rate > 0
          ? fmt::format("all {} held-out examples are clicks", held_out.examples)
          : fmt::format("none of the {} held-out examples is a click", held_out.examples),
      kept);
}

}  // namespace leveret::cli
