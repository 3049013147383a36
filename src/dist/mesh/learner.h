/// Test-then-train by batches over a model whose weights are divided among the ranks by key: the
/// parameter server's way (a *mesh*), synchronous, in which each rank is a worker and a server. It
/// is here to be compared with equivalent substitution (sharded_learner.h), and learns what one
/// process with the same batches learns, but for the order in which sums are made.
///
/// A batch goes: each rank has some of the examples, whole; it asks the owners of their distinct
/// features for cells and rows, goes forward and back by the blocks that every model has, and sends
/// the owners the sums of its gradients, who take the steps. What is no feature's (constants,
/// layers) is on every rank, and its gradients are added up over all.
///
/// With the automatic admission (--admit 0) an owner counts its own rows, so that rows come
/// earlier than in one process; with any other all is as there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dist/learn/batch_head.h"
#include "dist/learn/part_batch.h"
#include "dist/mesh/messages.h"
#include "dist/talk/communicator.h"
#include "model/lookup.h"
#include "model/model.h"
#include "net/network.h"
#include "optim/distinct.h"
#include "optim/optimizer.h"
#include "optim/sums.h"

namespace leveret::dist {

/// std::runtime_error that says which option a mesh has not, and what to do.
void check_mesh(const spec::Spec& spec);

/// Bytes that a rank has to send the others for a batch, by what is in it: 5 for each feature that
/// it asks for, and the weights and gradients.
struct MeshBytes {
  std::uint64_t pull = 0, push = 0, sums = 0;
};

/// Owned by one thread.
class MeshLearner {
 public:
  /// `model`: with the features that are this rank's by key (owner), and all that is no feature's.
  /// It outlives the learner and is its alone.
  MeshLearner(model::Model& model, Communicator& ranks, const kernels::Kernels& kernels);

  /// The rank that has a feature of a shard of table::Tables.
  static unsigned owner(std::uint32_t shard, table::Key key, unsigned ranks);

  /// Meets what a batch brings.
  void grow(const Growth& growth);
  /// Learns from a batch of so many examples, of which `own` are those of ExampleShare. Says what
  /// any rank has flagged; with `failed` nothing was learned. Errors leave the other ranks waiting.
  BatchFlags learn(const feature::FeatureBatch& own, BatchFlags flags, std::size_t examples);
  /// Raw scores of all examples of the last batch, before it was learned.
  std::span<const float> scores() const { return scores_; }
  /// By formula, of this rank and the last batch.
  const MeshBytes& expected_bytes() const { return expected_; }

 private:
  /// The features that one rank has asked this one for.
  struct Order {
    std::vector<Wanted> features;
    std::vector<table::Cell*> cells;        ///< of those whose cells are wanted
    std::vector<std::byte*> rows;           ///< of those that get one
    std::vector<std::size_t> row_features;  ///< which these are
    std::vector<std::uint32_t> row_from;    ///< Lent::row_from
  };
  void want(const feature::FeatureBatch& own);
  std::uint32_t number(std::uint32_t shard, std::uint32_t hash);
  void ask();
  void look_up(Order& order);
  Lent lend(const Order& order) const;
  void take(unsigned from, const Lent& lent);
  void put_on_tape(const feature::FeatureBatch& own);
  BatchFlags add_up(BatchFlags flags, std::size_t examples);
  void collect_gradients();
  void push();
  void step(std::span<const Gradients> gradients);
  std::size_t row_bytes() const;
  std::size_t row_floats() const;

  model::Model& model_;
  Communicator& ranks_;
  const kernels::Kernels& kernels_;
  net::Network network_;
  optim::Optimizer optimizer_;
  model::Lookup lookup_;  ///< makes room on the tape
  BatchHead head_;
  std::uint64_t batches_ = 0;

  // Working memory of this rank's examples.
  tape::Tape tape_;
  std::optional<optim::Sums> sums_;  ///< of the batch at hand
  optim::Distinct names_;
  /// By number, in the order in which they come: whose it is, and where in what is asked of that
  /// rank.
  struct Place {
    unsigned rank;
    std::uint32_t at;
  };
  std::vector<Place> places_;
  std::vector<std::vector<Wanted>> wanted_;          ///< by rank
  std::vector<std::vector<std::uint32_t>> numbers_;  ///< by rank, parallel to wanted_
  std::vector<std::uint32_t> linear_, fields_;       ///< numbers, parallel to the batch's features
  // By number: what was lent.
  std::vector<table::Cell> cells_;
  std::vector<std::byte*> rows_;         ///< in row_store_; null: none
  std::vector<std::uint32_t> row_from_;  ///< with which occurrence it comes
  table::AlignedBytes row_store_;
  std::size_t row_stride_ = 0;
  // By number, too: gradients.
  std::vector<float> cell_gradients_, row_gradients_;

  std::vector<Order> orders_;  ///< by rank
  std::vector<float> common_, scores_;
  std::vector<Bytes> out_, in_;
  MeshBytes expected_;
};

}  // namespace leveret::dist
