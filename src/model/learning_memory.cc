#include "model/learning_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

namespace leveret::model {
namespace {

/// The name before the first dot: arrays and tensors of a tower are called NAME.….
std::string_view owner_of(std::string_view name) { return name.substr(0, name.find('.')); }

/// The option that makes it.
std::string option_of(const std::string& owner, const spec::Spec& spec) {
  const std::vector<spec::TowerSpec> towers = spec.towers();
  const auto found = std::ranges::find(towers, owner, &spec::TowerSpec::name);
  if (found != towers.end()) {
    const bool own = spec.has_own_tower() && found == towers.begin();
    return own ? "--hidden" : std::string("--tower ") + found->kind->word;
  }
  if (owner == "ffm") return "--ffm_k";
  if (owner == "embedding") return "--embedding_dim";
  return owner == "numbers" ? "--numeric" : "--heads";
}

/// In MB, rounded up.
std::uint64_t megabytes(std::uint64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

}  // namespace

LearningMemory learning_memory(const tape::Declarations& declared, const spec::Spec& spec) {
  const std::uint64_t examples = std::max(spec.batch_size, spec.nn_batch_size);
  LearningMemory memory;
  std::map<std::string, std::uint64_t, std::less<>> of_owners;
  const auto add = [&](std::string_view name, std::uint64_t floats, std::uint64_t& to) {
    const std::uint64_t bytes = floats * sizeof(float);
    to += bytes;
    of_owners[std::string(owner_of(name))] += bytes;
  };
  for (const tape::LearnedArray& array : declared.arrays) {
    if (!array.in_scalars()) add(array.name, array.rows() * array.stride(), memory.arrays);
  }
  for (const tape::Tensor& tensor : declared.tensors) {
    if (tensor.only_if_read && tensor.readers == 0) continue;
    const bool of_batch = tensor.per == tape::Tensor::Per::kBatch;
    const std::uint64_t floats = tensor.stride() * (tensor.gradient ? 2 : 1);
    add(tensor.name, floats * (of_batch ? 1 : examples), memory.batch);
  }
  for (const tape::WorkingMemory& of : declared.working) {
    add(of.name, of.floats * examples, memory.batch);
  }
  for (const auto& [owner, bytes] : of_owners) {
    if (bytes <= memory.of_most) continue;
    memory.most = option_of(owner, spec);
    memory.of_most = bytes;
  }
  return memory;
}

void check_learning_memory(const tape::Declarations& declared, const spec::Spec& spec,
                           const LearningExtent& extent, std::uint64_t limit) {
  constexpr std::uint64_t kAlwaysFits = std::uint64_t{16} << 20;
  const LearningMemory memory = learning_memory(declared, spec);
  const std::uint64_t all = memory.of_threads(extent.threads);
  if (all <= std::max(limit, kAlwaysFits)) return;
  throw std::runtime_error(fmt::format(
      "learning takes {} MB with {} fields and {} threads, {} MB of it for a batch of {}, and "
      "most by {}; --max_memory is {} MB: give {} smaller settings, a smaller --batch_size, or "
      "more memory",
      megabytes(all), extent.fields, extent.threads, megabytes(memory.batch * extent.threads),
      std::max(spec.batch_size, spec.nn_batch_size), memory.most, limit >> 20, memory.most));
}

}  // namespace leveret::model
