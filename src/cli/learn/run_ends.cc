#include "cli/learn/run_ends.h"

#include <fmt/format.h>

#include "cli/learn/resume.h"
#include "cli/learn/train_report.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

std::string stopped_text(const std::optional<train::InputPosition>& position, unsigned pass) {
  if (position) {
    return fmt::format("stopped by a signal; {} are learned, and --resume continues there",
                       how_far(*position));
  }
  if (pass == 0) return kStopped;
  return fmt::format("stopped by a signal in pass {}; the model of the best pass before it is kept",
                     pass);
}

std::string not_saved_text(const TrainOptions& options, const std::string& followed,
                           std::uint32_t best_pass, const std::string& last_checkpoint) {
  const std::string& model = options.final_model;
  if (model.empty()) return "";
  if (options.follow && !followed.empty()) {
    return fmt::format(
        "; {} holds at most what {} and the files before it taught; the same command continues "
        "there",
        model, stream::escaped(followed));
  }
  const std::string ends = best_pass > 0
                               ? fmt::format("; {} is the model of pass {}", model, best_pass)
                               : "; " + model + " is not saved";
  if (last_checkpoint.empty()) return ends;
  return ends + ", " + last_checkpoint + " is the last checkpoint: --resume continues there";
}

}  // namespace leveret::cli
