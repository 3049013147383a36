/// Models of one line, each of which has learned some lines more than the one before.
#pragma once

#include <string>

#include "files/temp_folder.h"
#include "modelfile/model_io.h"
#include "train/train_run.h"

namespace leveret::publish {

struct LineOfModels {
  explicit LineOfModels(int count, std::uint32_t k = 2, std::uint32_t fields = 8) {
    spec::Spec spec;
    spec.ffm_k = k;
    spec.hidden = {};
    train::TrainRun run(spec);
    model::LineShape shape = train::usual_shape();
    shape.vocabulary = 300;
    shape.fields = fields;
    run.learn(model::random_lines(300, shape, 1));
    for (int i = 0; i < count; ++i) {
      run.learn(model::random_lines(5, shape, 100 + static_cast<std::uint32_t>(i)));
      modelfile::save_model(run.model, (*this)[i]);
    }
  }
  /// The file of model i, from 0.
  std::string operator[](int i) const { return folder / ("m" + std::to_string(i)); }

  files::TempFolder folder;
};

}  // namespace leveret::publish
