/// A model in shards, all of them in this process, fed with text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../train/train_run.h"
#include "dist/folder/gather.h"
#include "dist/learn/local_learner.h"
#include "files/temp_folder.h"
#include "kernels/dispatch.h"

namespace leveret::dist {

inline std::vector<std::byte> saved_bytes(const model::Model& model) {
  const files::TempFolder folder;
  modelfile::save_model(model, folder / "model");
  return files::read_bytes(folder / "model");
}

class ShardedRun {
 public:
  /// `memory`: of each shard.
  ShardedRun(const spec::Spec& spec, std::uint32_t shards,
             std::uint64_t memory = train::kTestMemory)
      : ShardedRun(
            std::make_unique<ShardedModel>(spec, shards, 0, shards, memory, kernels::active())) {}
  /// Goes on with a model.
  ShardedRun(const model::Model& whole, std::uint32_t shards)
      : ShardedRun(split(whole, shards, 0, shards, train::kTestMemory, kernels::active())) {}

  void learn(const std::string& lines) {
    const text::ExampleChunk chunk =
        train::parse(names, lines, model::reading_numbers(model->spec()));
    learner_.learn(chunk, 0, chunk.examples.size(), outcomes);
    learner_.finish(outcomes);
  }
  model::Model whole() const { return gather(*model, train::kTestMemory); }
  std::vector<float> probabilities() const { return train::TrainRun::probabilities(outcomes); }

  text::NamespaceNames names;
  std::unique_ptr<ShardedModel> model;
  predict::Outcomes outcomes;

 private:
  explicit ShardedRun(std::unique_ptr<ShardedModel> model)
      : model(std::move(model)), learner_(*this->model, names) {}

  LocalLearner learner_;
};

/// Lines of which every seventh has no label.
inline std::string some_unlabelled(const std::string& lines) {
  std::string all;
  std::size_t number = 0;
  for (std::size_t at = 0; at < lines.size(); ++number) {
    const std::size_t end = lines.find('\n', at) + 1;
    const std::size_t from = number % 7 == 6 ? lines.find(" |", at) : at;
    all += lines.substr(from, end - from);
    at = end;
  }
  return all;
}

}  // namespace leveret::dist
