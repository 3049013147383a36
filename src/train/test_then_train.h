/// Windows that are tested before they are learned: each example of a window is predicted with what
/// the model knew before the window, then all of them are learned. So a model is asked for what it
/// will be asked for when it is trained every quarter of an hour, and serves in between: the test
/// of the SIGMOD paper on quantized CTR training, section 4.1.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/model.h"
#include "predict/predictor.h"
#include "text/example.h"
#include "text/namespace_names.h"
#include "train/serial_learner.h"

namespace leveret::train {

/// One thread's. The examples of a window wait in memory until it is full. Where one ends the
/// learner's batch ends, too.
class TestThenTrain final : public SerialLearner {
 public:
  /// `learner` learns into `model`, and outlives this, as do `names`, those of the parsers whose
  /// chunks will come. `window`: examples, at least 1.
  TestThenTrain(SerialLearner& learner, std::shared_ptr<const model::Model> model,
                const text::NamespaceNames& names, const kernels::Kernels& kernels,
                std::size_t window);

  /// Outcomes say what the test said. Those of a window come when it is full and learned.
  void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             predict::Outcomes& outcomes) override;
  void finish(predict::Outcomes& outcomes) override;
  bool none_waits() const override { return tested_.items.empty(); }
  std::size_t until_none_waits() const override { return window_ - tested_.items.size(); }

 private:
  void test(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  void learn_window(predict::Outcomes& outcomes);

  SerialLearner& learner_;
  const std::shared_ptr<const model::Model> model_;
  const text::NamespaceNames& names_;
  const kernels::Kernels& kernels_;
  const std::size_t window_;
  std::optional<predict::Predictor> predictor_;  ///< of this window's model; none: no example came
  predict::Outcomes tested_;                     ///< of the window's examples
  std::vector<text::ExampleChunk> waiting_;      ///< these examples, without their text
  predict::Outcomes learned_;                    ///< what learning says of them: for nobody
};

}  // namespace leveret::train
