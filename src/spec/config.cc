#include "spec/config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "net/make_blocks.h"
#include "rules/kinds.h"
#include "spec/towers.h"

namespace leveret::spec {
namespace {

/// Slots of the next power of two of an FFM or FM with vectors of `k`. Accumulators of slots count
/// what the added weights of 0 have as well: as if there were as many more gradients of 0.
block::Rows rows_of(const Spec& spec, const RowsSpec& rows, kernels::Codec codec) {
  block::Rows of;
  of.kind = rows.kind;
  table::RowPart& part = of.part;
  part.k = stored_k(rows.k, rows.codec);  // an export's codec may be another one
  part.used_k = rows.k;
  part.codec = codec;
  part.init_width = spec.ffm_init_width * std::sqrt(3.0f / static_cast<float>(rows.k));
  if (rows.kind != block::Rows::Kind::kFfm) {
    part.slots = 1;
    part.by_field = false;
  }
  of.learn_by(rules::make_rule({.part = rows.learning,
                                .l2 = spec.l2,
                                .one_sum = spec.adagrad_slice,
                                .used = static_cast<float>(rows.k) / static_cast<float>(part.k),
                                .sums = spec.state_codec()}));
  return of;
}

}  // namespace

block::Config config_of(const Spec& spec, const std::vector<kernels::Codec>& rows) {
  block::Config config;
  config.mixed = spec.mixed();
  config.fast_head = spec.mixed() && spec.fast_head;
  config.constant = spec.constant;
  config.per_example_updates = spec.updates_per_example();
  for (const RowsSpec& of : spec.row_parts()) {
    const std::size_t part = config.rows.size();
    kernels::Codec codec = part < rows.size() ? rows[part] : of.codec;
    codec.nearest = of.codec.nearest && codec.kind == kernels::Codec::Kind::kFixed;
    config.rows.push_back(rows_of(spec, of, codec));
  }
  config.pool = spec.pool;
  config.numbers = static_cast<std::uint32_t>(spec.features.numeric.size());
  config.layers_rule =
      rules::make_rule({.part = spec.nn, .l2 = spec.nn_l2 > 0 ? spec.nn_l2 : spec.l2});
  config.layers_clip = spec.nn_clip;
  config.layers_warmup = spec.nn_warmup;
  for (const TowerSpec& of : spec.towers()) {
    block::Tower tower{of.name, {}, {}, of.kind, of.options};
    for (const std::string& word : of.in) tower.inputs.emplace_back(find_input(word)->tensor);
    tower.fields = chosen_fields(spec, of);
    tower.own_loss = of.own_loss;
    // Neighbours over pairs share a head with the layers of --hidden.
    const bool shares = config.towers.empty() || config.towers.back().head == tower.head;
    if (of.reads(TowerSpec::kEmbeddings) || !shares) tower.head = of.name;
    config.towers.push_back(std::move(tower));
  }
  config.seed = spec.seed;
  // Blocks may have others beside those that options tell of.
  const std::size_t told = config.rows.size();
  config.rows = net::declare_rows(config);
  for (std::size_t part = told; part < std::min(config.rows.size(), rows.size()); ++part) {
    config.rows[part].part.codec = rows[part];
  }
  return config;
}

}  // namespace leveret::spec
