/// The share of the model that a rank of `leveret-mpi train` has, and how ranks learn it together:
/// by equivalent substitution (--strategy des), or as a mesh.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/learn/train_summary.h"
#include "cli/mpi/start.h"
#include "cli/mpi/train_run.h"
#include "dist/learn/batch_head.h"
#include "dist/learn/batch_reader.h"
#include "dist/learn/part_batch.h"
#include "dist/plan/plan.h"
#include "dist/talk/communicator.h"
#include "train/input_position.h"

namespace leveret::cli {

/// One thread. All ranks call the functions that send something alike.
class RankModel {
 public:
  virtual ~RankModel() = default;

  /// Spec, namespaces and what else every rank has.
  virtual const model::Model& common() const = 0;
  /// Fields that all ranks know.
  std::uint32_t fields() const { return common().parameters().layout.fields; }

  // How rank 0 divides the input.
  virtual dist::Plan plan() const = 0;
  virtual dist::Split split() const = 0;

  virtual void grow(const dist::Growth& growth) = 0;
  /// Learns from a batch of so many examples, of which `parts` are this rank's, as
  /// dist::ShardedLearner does.
  virtual dist::BatchFlags learn(std::span<dist::PartBatch> parts, dist::BatchFlags flags,
                                 std::size_t examples) = 0;
  /// The scores of all examples of the last batch.
  virtual std::span<const float> scores() const = 0;

  /// Bytes that this rank has sent in a batch, by purpose and by formula: after one of so many
  /// examples.
  struct Sent {
    dist::Traffic traffic;
    std::uint64_t bytes;
  };
  virtual std::vector<Sent> sent_by_formula(std::size_t examples) const = 0;
  /// The plan, lines for people: which rank has which part.
  virtual std::string explain() const = 0;

  virtual void save(const std::string& path, const train::InputPosition& position) = 0;
  /// The tables of its features.
  virtual std::vector<const table::Tables*> tables() const = 0;
};

/// New, or this rank's part of the model to go on with.
std::unique_ptr<RankModel> first_model(const MpiTrainOptions& options, const TrainingStart& start,
                                       dist::Communicator& ranks);
/// The same for --strategy mesh, which begins anew.
std::unique_ptr<RankModel> first_mesh(const TrainingStart& start, dist::Communicator& ranks);

}  // namespace leveret::cli
