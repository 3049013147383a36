/// A model in a file, and what is said of a file that has been made from it.
#pragma once

#include "model_parts.h"
#include "train_run.h"

namespace leveret::train {

inline std::string lines() { return model::random_lines(60, {}, 2); }

/// What load_model says against a file; empty when it loads.
inline std::string complaint(const std::string& path) {
  try {
    load_model(path, kTestMemory);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

struct SavedModel {
  explicit SavedModel(const model::Spec& spec) : run(spec) {
    run.learn(lines());
    save_model(run.model, folder / "good");
  }
  ModelParts parts() const { return ModelParts(folder / "good"); }
  model::Model load() const { return load_model(folder / "good", kTestMemory); }
  std::string bad() const { return folder / "bad"; }

  files::TempFolder folder;
  TrainRun run;
};

}  // namespace leveret::train
