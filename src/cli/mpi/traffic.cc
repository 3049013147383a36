#include "cli/mpi/traffic.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "dist/learn/batch_reader.h"
#include "dist/learn/sharded_learner.h"
#include "dist/plan/sum_layout.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

using dist::SumLayout;
using dist::Traffic;

/// The blocks of a kind of model, in the order of running, and how many floats of an example each
/// sums up.
std::vector<std::pair<std::string, std::size_t>> blocks_of(const SumLayout& at) {
  std::vector<std::pair<std::string, std::size_t>> blocks;
  for (const tape::SumDecl& sum : at.declared.all()) {
    if (sum.per == tape::Tensor::Per::kBatch) continue;
    if (blocks.empty() || blocks.back().first != sum.block) blocks.emplace_back(sum.block, 0);
    blocks.back().second += sum.floats;
  }
  return blocks;
}

/// Bytes of what is added up over the ranks.
std::string explain_sums(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits) {
  const SumLayout& at = model.frame().sums();
  std::string text = "bytes of sums, for an example\n";
  for (const auto& [block, floats] : blocks_of(at)) {
    if (floats > 0) text += fmt::format("  {:<12} {:>6}\n", block, floats * wire_bits / 8);
  }
  std::uint64_t of_example = 0, of_batch = 0, bytes = 0;
  const std::uint32_t batch = model.spec().batch_size;
  for (std::uint32_t round = 0; round < at.declared.rounds(); ++round) {
    const dist::WireFormat wire = dist::ShardedLearner::wire(wire_bits, at, round);
    of_example += at.declared.of_example(round) * wire_bits / 8;
    of_batch += wire.bytes(0, at.floats(round, 0));
    bytes += wire.bytes(0, at.floats(round, batch));
  }
  text += fmt::format("  {:<12} {:>6}\n", "all", of_example);
  text += fmt::format("and for a batch  {:>6}\n", of_batch);
  return text + fmt::format("a batch of {} examples: {} bytes of sums, of which a rank sends {}\n",
                            batch, bytes, sums_bytes(model, ranks, wire_bits, batch));
}

/// A shard's share of the bytes that are expected on all of them.
double share_of(const dist::Plan& plan, std::uint32_t shard) {
  const std::vector<std::uint64_t> loads = plan.loads();
  const std::uint64_t all = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
  return all > 0 ? static_cast<double>(loads[shard]) / static_cast<double>(all) : 0;
}

std::string shard_line(const dist::ShardedModel& model, const std::vector<std::string>& names,
                       std::uint32_t shard, unsigned rank) {
  const dist::Plan& plan = model.plan();
  std::vector<std::string> homes;
  std::size_t rows = 0, slots = 0;
  for (std::uint32_t f = 0; f < plan.fields(); ++f) {
    if (plan.feature_group_owner(f + 1) == shard) homes.push_back(stream::escaped(names[f]));
    const std::size_t opposite = plan.opposite(shard, f).size();
    rows += opposite > 0;
    slots += opposite;
  }
  return fmt::format(
      "  rank {:<3} shard {:<3} load {:>4.1f} %, {} slots in rows of {} fields, linear weights of: "
      "{}\n",
      rank, shard, 100 * share_of(plan, shard), slots, rows,
      homes.empty() ? "-" : fmt::format("{}", fmt::join(homes, " ")));
}

}  // namespace

std::uint64_t sums_bytes(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits,
                         std::size_t examples) {
  const SumLayout& at = model.frame().sums();
  std::uint64_t bytes = 0;
  for (std::uint32_t round = 0; round < at.declared.rounds(); ++round) {
    bytes += dist::Communicator::all_reduce_bytes(at.floats(round, examples), ranks,
                                                  dist::ShardedLearner::wire(wire_bits, at, round));
  }
  return bytes;
}

void BatchTraffic::add_batch(std::uint64_t input_bytes, std::span<const RankModel::Sent> sent) {
  ++batches_;
  const auto add = [&](Traffic traffic, std::uint64_t bytes) {
    expected_[static_cast<std::size_t>(traffic)] += bytes;
    told_[static_cast<std::size_t>(traffic)] = true;
  };
  add(Traffic::kInput, input_bytes);
  for (const RankModel::Sent& of : sent) add(of.traffic, of.bytes);
}

std::string BatchTraffic::take_json() {
  // In the order of Traffic.
  constexpr std::array<const char*, dist::kTraffics> kNames = {"sums", "input", "pull", "push",
                                                               "other"};
  std::string text = fmt::format(",\"batches\":{}", batches_);
  for (std::size_t i = 0; i < dist::kTraffics; ++i) {
    const std::uint64_t now = ranks_.traffic().sent[i];
    const std::uint64_t sent = now - std::exchange(measured_before_[i], now);
    const bool is_other = i == static_cast<std::size_t>(Traffic::kOther);
    if (is_other || told_[i]) text += fmt::format(",\"{}_bytes\":{}", kNames[i], sent);
    if (told_[i]) text += fmt::format(",\"{}_bytes_by_formula\":{}", kNames[i], expected_[i]);
  }
  expected_ = {};
  batches_ = 0;
  return text;
}

std::string explain_plan(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits) {
  const dist::Plan& plan = model.plan();
  std::vector<std::string> names = model.frame().features()->field_names();
  names.resize(plan.fields());
  std::string text = "plan\n";
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const auto [first, count] = dist::RankShards::of(plan.shards(), rank, ranks);
    for (std::uint32_t shard = first; shard < first + count; ++shard) {
      text += shard_line(model, names, shard, rank);
    }
  }
  const std::uint32_t by_key = plan.feature_groups_by_key(plan.fields());
  if (by_key > 0) {
    text += by_key == 1
                ? "  linear weights of features without a field are spread over all shards\n"
                : "  linear weights are spread over all shards\n";
  }
  return text + explain_sums(model, ranks, wire_bits);
}

}  // namespace leveret::cli
