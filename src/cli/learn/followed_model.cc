#include "cli/learn/followed_model.h"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "cli/console.h"
#include "files/file_state.h"
#include "metrics/exposition.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

std::string model_without(const std::string& model, const train::KeptModels& kept,
                          const std::string& folder, const std::vector<std::string>& without) {
  const train::ChunkLedger learned = train::notes_of(store::ModelFile::open(model)).chunks;
  std::vector<train::ChunkHash> unwanted;
  std::string names;
  for (const std::string& name : without) {
    const std::string path = folder + '/' + name;
    if (!files::state_of(path)) {
      throw std::runtime_error(path +
                               ": is not there, so nobody knows whether it was learned; --without "
                               "names a file of the folder");
    }
    const train::LedgerFind found = train::find_learned(learned, path);
    if (!found.learned) continue;
    unwanted.push_back(*found.learned);
    names += (names.empty() ? "" : ", ") + stream::escaped(name);
  }
  if (unwanted.empty()) return model;
  const std::optional<std::string> before = kept.newest_without(learned, unwanted);
  if (!before) {
    throw std::runtime_error(
        fmt::format("{} has learned {}, and {} has no model from before that; begin with an older "
                    "one, if there is a copy, and keep more of them (--keep_models)",
                    model, names, kept.folder()));
  }
  say(fmt::format("going back to {}, as {} has learned {}", *before, model, names));
  return *before;
}

FollowedModel::FollowedModel(const FollowOptions& options, std::string path)
    : options_(options), path_(std::move(path)), kept_(path_) {
  if (options_.keep_models > 0) kept_.make_folder();
}

void FollowedModel::add(const predict::Outcomes& outcomes) {
  if (options_.textfile.empty()) return;
  examples_ += outcomes.items.size();
  for (const predict::Outcome& outcome : outcomes.items) {
    since_save_.add(outcome.probability, outcome.label, outcome.importance);
  }
}

std::string FollowedModel::metrics_text(std::uint64_t sequence, std::uint64_t bad_lines) {
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  metrics::Exposition text;
  text.one("leveret_train_examples_total", "counter", "Examples that this run has met.", examples_);
  text.one("leveret_train_bad_lines_total", "counter", "Lines that are no examples.", bad_lines);
  text.one("leveret_train_files_total", "counter", "Files that this run has learned.", files_);
  text.one("leveret_train_saves_total", "counter", "Times that the model was saved.", saves_);
  text.one("leveret_train_sequence", "gauge", "Examples that the saved model has learned.",
           sequence);
  text.one("leveret_train_saved_timestamp_seconds", "gauge",
           "When the model was saved, in seconds since 1970.", now);
  const metrics::MetricsSnapshot worth = since_save_.snapshot();
  text.one("leveret_train_window_examples", "gauge",
           "Labelled examples since the save before, predicted before they were learned; of these "
           "are the figures that follow.",
           worth.examples);
  text.one("leveret_train_window_logloss", "gauge", "Their logloss.", worth.logloss);
  text.one("leveret_train_window_ne", "gauge", "Their normalised entropy.", worth.ne);
  text.one("leveret_train_window_auc", "gauge", "Their AUC.", worth.auc);
  text.one("leveret_train_window_calibration", "gauge", "Predicted clicks for one.",
           worth.calibration);
  return text.text();
}

std::chrono::duration<double> FollowedModel::save(const model::Model& model,
                                                  const train::Notes& notes,
                                                  std::uint64_t bad_lines,
                                                  std::function<void()> failed) {
  ++saves_;
  const std::string metrics =
      options_.textfile.empty() ? "" : metrics_text(model.parameters().scalars.examples, bad_lines);
  since_save_.clear();
  is_saved_ = true;
  return save_.save(
      model, path_, notes,
      [this, followed = notes.followed, metrics](files::AtomicFile& file) {
        commit(file, followed, metrics);
      },
      std::move(failed));
}

/// In the thread of the save. Only the model itself is worth ending for.
void FollowedModel::commit(files::AtomicFile& file, const std::string& followed,
                           const std::string& metrics) {
  if (options_.keep_models == 0 || followed.empty()) {
    file.commit();
  } else {
    const std::string name = kept_.path_of(followed);
    if (const int error = file.commit_with_link(name); error != 0) {
      warn(fmt::format("{}: cannot keep this model: {}", stream::escaped(name),
                       std::strerror(error)));
    }
    kept_.prune(followed, options_.keep_models);
  }
  if (metrics.empty()) return;
  try {
    files::AtomicFile text(options_.textfile);
    text.write(std::as_bytes(std::span(metrics)));
    text.commit();
  } catch (const std::exception& error) {
    warn(error.what());
  }
}

void FollowedModel::warn(std::string problem) {
  if (problem != warned_) say("warning: " + problem);
  warned_ = std::move(problem);
}

}  // namespace leveret::cli
