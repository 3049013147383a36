/// A model in a file, and what is said of a file that has been made from it.
#pragma once

#include "modelfile/model_parts.h"
#include "train/train_run.h"

namespace leveret::modelfile {

using model::Use;
using train::cut;
using train::kTestMemory;
using train::NamedSpec;
using train::specs_to_test;
using train::TrainRun;

inline std::string lines() { return model::random_lines(60, {}, 2); }

/// What load_model says against a file; empty when it loads.
inline std::string complaint(const std::string& path, Use use = Use::kLearn,
                             LoadBy by = LoadBy::kReading) {
  try {
    load_model(path, kTestMemory, use, by);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// How a file may be loaded.
struct Way {
  const char* name;
  Use use;
  LoadBy by;
};
inline constexpr Way kWays[] = {{"to learn", Use::kLearn, LoadBy::kReading},
                                {"to predict", Use::kPredict, LoadBy::kReading},
                                {"mapped", Use::kPredict, LoadBy::kMapping}};

struct SavedModel {
  explicit SavedModel(const spec::Spec& spec) : run(spec) {
    run.learn(lines());
    save_model(run.model, folder / "good");
  }
  ModelParts parts() const { return ModelParts(folder / "good"); }
  model::Model load() const { return load_model(folder / "good", kTestMemory); }
  std::string bad() const { return folder / "bad"; }

  files::TempFolder folder;
  TrainRun run;
};

}  // namespace leveret::modelfile
