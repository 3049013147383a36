/// The share that one rank holds of a model that lies in shards: its shards, and what is
/// everywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dist/learn/frame.h"
#include "dist/learn/part.h"
#include "dist/learn/part_batch.h"
#include "dist/plan/plan.h"

namespace leveret::dist {

/// Shards [first, first + count) of the plan. Threads: one.
class ShardedModel {
 public:
  /// Knowing nothing. `memory_limit`: bytes of the tables of each shard.
  ShardedModel(const spec::Spec& spec, std::uint32_t shards, std::uint32_t first,
               std::uint32_t count, std::uint64_t memory_limit, const kernels::Kernels& kernels);

  /// Meets what a batch brings: namespaces and fields, which get their places and first values.
  void grow(const Growth& growth);

  /// Forgets the features that --expire says, in all shards of all ranks after the same batch. To
  /// be called after each.
  void forget();

  /// The shapes of a model that is known: a plan and namespaces in place of Growths. Values are to
  /// be filled in.
  void resume(Plan plan, std::vector<feature::NamespacePlan> namespaces);

  const spec::Spec& spec() const { return frame_->model().spec(); }
  block::Config config() const { return frame_->model().config(); }
  const Plan& plan() const { return *plan_; }
  Frame& frame() { return *frame_; }
  const Frame& frame() const { return *frame_; }
  std::uint32_t first() const { return first_; }
  std::size_t size() const { return parts_.size(); }
  Part& operator[](std::size_t i) { return *parts_[i]; }
  const Part& operator[](std::size_t i) const { return *parts_[i]; }

  /// Bytes that the tables of all shards of this rank hold.
  std::uint64_t table_bytes() const;

 private:
  void fit(tape::Extent to);

  std::unique_ptr<Frame> frame_;
  std::unique_ptr<Plan> plan_;
  std::uint32_t first_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace leveret::dist
