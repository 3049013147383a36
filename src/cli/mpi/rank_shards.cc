/// leveret-mpi train by equivalent substitution: a rank has some shards of the model.
#include <utility>

#include "cli/mpi/rank_model.h"
#include "cli/mpi/traffic.h"
#include "dist/folder/gather.h"
#include "dist/folder/shard_files.h"
#include "dist/learn/sharded_learner.h"
#include "dist/learn/sharded_model.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

std::unique_ptr<dist::ShardedModel> first_shards(const MpiTrainOptions& options,
                                                 const TrainingStart& start,
                                                 const dist::Communicator& ranks) {
  const auto [first, count] = dist::RankShards::of(start.shards, ranks.rank(), ranks.size());
  const std::string& from = options.initial_model;
  if (from.empty()) {
    return std::make_unique<dist::ShardedModel>(start.spec, start.shards, first, count,
                                                start.shard_bytes, kernels::active());
  }
  if (!dist::ShardFolder::is_folder(from)) {
    model::Model whole = modelfile::load_model(from, modelfile::default_memory_limit());
    whole.set_spec(start.spec);
    return dist::split(whole, start.shards, first, count, start.shard_bytes, kernels::active());
  }
  const dist::ShardFolder folder(from);
  return folder.load(start.spec, first, count, start.shard_bytes, kernels::active());
}

class ShardsOfRank final : public RankModel {
 public:
  ShardsOfRank(std::unique_ptr<dist::ShardedModel> model, unsigned wire_bits,
               dist::Communicator& ranks)
      : ranks_(ranks), model_(std::move(model)), learner_(*model_, ranks) {
    learner_.wire_bits = wire_bits;
    if (wire_bits == 32 || model_->spec().features.numeric.empty()) return;
    throw std::runtime_error(
        "--wire_bits 16 does not work with --numeric: it would round numbers before their mean is "
        "taken away");
  }

  const model::Model& common() const override { return model_->frame().model(); }
  dist::Plan plan() const override { return model_->plan(); }
  dist::Split split() const override { return dist::Split::kFeatures; }

  void grow(const dist::Growth& growth) override { model_->grow(growth); }
  dist::BatchFlags learn(std::span<dist::PartBatch> parts, dist::BatchFlags flags,
                         std::size_t examples) override {
    return learner_.learn(parts, flags, examples);
  }
  std::span<const float> scores() const override { return learner_.scores(); }

  std::vector<Sent> sent_by_formula(std::size_t examples) const override {
    return {
        {dist::Traffic::kSums, sums_bytes(*model_, ranks_.size(), learner_.wire_bits, examples)}};
  }
  std::string explain() const override {
    return explain_plan(*model_, ranks_.size(), learner_.wire_bits);
  }

  void save(const std::string& path, const train::InputPosition& position) override {
    dist::save_shards(*model_, ranks_, path, position);
  }
  std::vector<const table::Tables*> tables() const override {
    std::vector<const table::Tables*> all;
    for (std::size_t i = 0; i < model_->size(); ++i) {
      all.push_back(&std::as_const(*model_)[i].tables());
    }
    return all;
  }

 private:
  dist::Communicator& ranks_;
  std::unique_ptr<dist::ShardedModel> model_;
  dist::ShardedLearner learner_;
};

}  // namespace

std::unique_ptr<RankModel> first_model(const MpiTrainOptions& options, const TrainingStart& start,
                                       dist::Communicator& ranks) {
  if (options.strategy == Strategy::kMesh) return first_mesh(start, ranks);
  return std::make_unique<ShardsOfRank>(first_shards(options, start, ranks), options.wire_bits,
                                        ranks);
}

}  // namespace leveret::cli
