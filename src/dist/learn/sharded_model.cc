#include "dist/learn/sharded_model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/expiry.h"
#include "model/learning_memory.h"

namespace leveret::dist {

ShardedModel::ShardedModel(const spec::Spec& spec, std::uint32_t shards, std::uint32_t first,
                           std::uint32_t count, std::uint64_t memory_limit,
                           const kernels::Kernels& kernels)
    : frame_(std::make_unique<Frame>(spec, kernels)),
      plan_(std::make_unique<Plan>(PlanShape::of(spec, frame_->model().config(), shards))),
      first_(first) {
  if (spec.evicts) {
    throw std::runtime_error(
        "--when_full evict does not work with shards (leveret-mpi, --deterministic), as each shard "
        "would forget other features: use --when_full overflow, and --expire");
  }
  if (spec.nn_clip > 0) {
    throw std::runtime_error(
        "clip of --optimizer layers= does not work with shards (--deterministic, leveret-mpi), "
        "each "
        "of which knows a part of a neuron's gradient: give clip=0, or leveret-mpi --strategy "
        "mesh");
  }
  // That of what every rank has; before anything is learned, so that all ranks say the same.
  const std::uint32_t fields = std::max(frame_->features()->field_count(), 1u);
  model::check_learning_memory(arrays_of(spec, frame_->model().config(), {fields}, Has::kFrame),
                               spec, {fields, 1}, count * memory_limit);
  for (std::uint32_t i = 0; i < count; ++i) {
    parts_.push_back(std::make_unique<Part>(*frame_, *plan_, first + i, memory_limit, kernels));
  }
}

void ShardedModel::grow(const Growth& growth) {
  if (growth.empty()) return;
  std::vector<feature::NamespacePlan> all = frame_->features()->plans();
  all.insert(all.end(), growth.namespaces.begin(), growth.namespaces.end());
  frame_->set_features(std::move(all));
  if (growth.fields.empty()) return;
  plan_->grow(growth.sizes);
  for (const auto& part : parts_) part->fit_tables();
  for (const std::uint32_t fields : growth.fields) fit({fields});
}

void ShardedModel::resume(Plan plan, std::vector<feature::NamespacePlan> namespaces) {
  frame_->set_features(std::move(namespaces));
  *plan_ = std::move(plan);
  for (const auto& part : parts_) part->fit_tables();
  if (plan_->fields() > 0) fit({plan_->fields()});
}

void ShardedModel::fit(tape::Extent to) {
  frame_->fit(to);
  for (const auto& part : parts_) part->fit(to);
}

void ShardedModel::forget() {
  tape::Scalars& scalars = frame_->model().parameters().scalars;
  for (const auto& part : parts_) model::forget_features(spec(), scalars, part->tables());
  model::note_tick(spec(), scalars);
}

std::uint64_t ShardedModel::table_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& part : parts_) bytes += part->tables().budget().used();
  return bytes;
}

}  // namespace leveret::dist
