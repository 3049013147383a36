/// leveret-mpi train --strategy mesh.
#include "cli/mpi/rank_model.h"
#include "dist/mesh/gather.h"
#include "dist/mesh/learner.h"
#include "dist/talk/agreement.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

class MeshModel final : public RankModel {
 public:
  MeshModel(const TrainingStart& start, dist::Communicator& ranks)
      : ranks_(ranks),
        model_(start.spec, start.shard_bytes),
        learner_(model_, ranks, kernels::active()) {}

  const model::Model& common() const override { return model_; }
  /// A plan of one shard: a rank's examples are given to it whole.
  dist::Plan plan() const override {
    return dist::Plan(dist::PlanShape::of(model_.spec(), model_.config(), 1));
  }
  dist::Split split() const override { return dist::Split::kExamples; }

  void grow(const dist::Growth& growth) override { learner_.grow(growth); }
  dist::BatchFlags learn(std::span<dist::PartBatch> parts, dist::BatchFlags flags,
                         std::size_t examples) override {
    static const feature::FeatureBatch kNone;
    return learner_.learn(flags.failed ? kNone : parts[0].features, flags, examples);
  }
  std::span<const float> scores() const override { return learner_.scores(); }

  std::vector<Sent> sent_by_formula(std::size_t) const override {
    const dist::MeshBytes& bytes = learner_.expected_bytes();
    return {{dist::Traffic::kPull, bytes.pull},
            {dist::Traffic::kPush, bytes.push},
            {dist::Traffic::kSums, bytes.sums}};
  }
  std::string explain() const override { return {}; }

  void save(const std::string& path, const train::InputPosition&) override {
    const std::uint64_t memory = modelfile::default_memory_limit();
    const std::optional<model::Model> whole = dist::gather_mesh(model_, ranks_, memory);
    dist::together(ranks_, [&] {
      if (whole) modelfile::save_model(*whole, path);
    });
  }
  std::vector<const table::Tables*> tables() const override { return {&model_.tables()}; }

 private:
  dist::Communicator& ranks_;
  model::Model model_;
  dist::MeshLearner learner_;
};

}  // namespace

std::unique_ptr<RankModel> first_mesh(const TrainingStart& start, dist::Communicator& ranks) {
  return std::make_unique<MeshModel>(start, ranks);
}

}  // namespace leveret::cli
