#include "cli/learn/followed_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "files/folder_lock.h"
#include "metrics/exposition.h"

namespace leveret::cli {

FollowedModel::FollowedModel(const FollowOptions& options, std::string path)
    : options_(options), path_(std::move(path)), kept_(path_), textfile_(options.textfile) {
  if (options_.keep_models > 0) files::make_folder(kept_.folder());
}

void FollowedModel::begin_with(const std::string& file) {
  last_ = files::state_of(path_);
  if (options_.keep_models > 0) tell_of_keeping(kept_.begin_with(file));
}

/// Two runs that save one model would each undo what the other has learned. A link to the file
/// changes neither of these, and some file systems give a file another number from time to time.
void FollowedModel::check_owner() {
  const std::optional<files::FileState> now = files::state_of(path_);
  const bool same = now.has_value() == last_.has_value() &&
                    (!now || (now->bytes == last_->bytes && now->written == last_->written));
  if (same) return;
  is_replaced_ = true;
  throw std::runtime_error(path_ +
                           ": another program has replaced or removed it while this run learned; "
                           "nothing is saved: run one train --follow for a model");
}

void FollowedModel::tell_of_keeping(int error) {
  keeping_.tell(error == 0 ? ""
                           : fmt::format("{}: cannot keep a model: {}", kept_.folder(),
                                         std::strerror(error)));
}

void FollowedModel::add(const predict::Outcomes& outcomes) {
  examples_ += outcomes.items.size();
  for (const predict::Outcome& outcome : outcomes.items) {
    since_save_.add(outcome.probability, outcome.label, outcome.importance);
  }
}

std::string FollowedModel::metrics_text(std::uint64_t sequence, std::uint64_t bad_lines) {
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  metrics::Exposition text(metrics::labels({{"model", path_}}));
  text.one("leveret_train_examples_total", "counter", "Examples that this run has met.", examples_);
  text.one("leveret_train_bad_lines_total", "counter", "Lines that are no examples.", bad_lines);
  text.one("leveret_train_files_total", "counter",
           "Files of the folder that this run has finished.", files_);
  text.one("leveret_train_saves_total", "counter", "Times that the model was saved.", saves_);
  text.one("leveret_train_sequence", "gauge", "Examples that the saved model has learned.",
           sequence);
  text.one("leveret_train_saved_timestamp_seconds", "gauge",
           "When the model was saved, in seconds since 1970.", now);
  const metrics::MetricsSnapshot worth = since_save_.snapshot();
  text.one("leveret_train_window_examples", "gauge",
           "Labelled examples since the save before, predicted before they were learned: those of "
           "the next metrics.",
           worth.examples);
  text.one("leveret_train_window_logloss", "gauge", "Their logloss.", worth.logloss);
  text.one("leveret_train_window_ne", "gauge", "Their normalised entropy.", worth.ne);
  text.one("leveret_train_window_auc", "gauge", "Their AUC.", worth.auc);
  text.one("leveret_train_window_calibration", "gauge", "Predicted clicks per click.",
           worth.calibration);
  return text.text();
}

std::string FollowedModel::worth() {
  const metrics::MetricsSnapshot worth = since_save_.snapshot();
  if (worth.examples == 0) return "0 examples";
  return fmt::format(
      "{} example{}, logloss {:.6f}, calibration {}", worth.examples,
      worth.examples == 1 ? "" : "s", worth.logloss,
      std::isfinite(worth.calibration) ? fmt::format("{:.4f}", worth.calibration) : "-");
}

void FollowedModel::save(const model::Model& model, const train::Notes& notes,
                         std::uint64_t bad_lines, std::function<void()> failed) {
  ++saves_;
  const std::string metrics =
      options_.textfile.empty() ? "" : metrics_text(model.parameters().scalars.examples, bad_lines);
  since_save_.clear();
  is_saved_ = true;
  save_.save(
      model, path_, notes,
      [this, followed = notes.followed, metrics](files::AtomicFile& file) {
        commit(file, followed, metrics);
      },
      std::move(failed));
}

/// In the thread of the save. Only the model itself is worth ending for.
void FollowedModel::commit(files::AtomicFile& file, const std::string& followed,
                           const std::string& metrics) {
  check_owner();
  if (options_.keep_models == 0 || followed.empty()) {
    file.commit();
  } else {
    const std::string name = kept_.path_of(followed);
    tell_of_keeping(file.commit_with_link(name));
    kept_.prune(followed, options_.keep_models);
  }
  last_ = files::state_of(path_);
  if (!metrics.empty()) textfile_.write(metrics);
}

}  // namespace leveret::cli
