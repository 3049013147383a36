#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "model/spec_entries.h"
#include "model/spec_towers.h"
#include "net/make_blocks.h"
#include "rules/kinds.h"
#include "table/expiry.h"

namespace leveret::model {

table::CellKind cell_kind(const Spec& spec) {
  if (spec.mixed()) return table::CellKind::kMixed;
  return spec.linear.rule == rules::kFtrl ? table::CellKind::kFtrl : table::CellKind::kAdagrad;
}

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

table::ShardOptions shard_options(const Spec& spec, const block::Config& config, Use use) {
  table::ShardOptions options;
  options.cells = cell_kind(spec);
  std::vector<table::RowPart> parts;
  for (const block::Rows& of : config.rows) parts.push_back(of.part);
  const table::RowLayout rows(std::move(parts));
  options.rows = use == Use::kPredict ? rows.for_serving() : rows;
  options.admission.admit = spec.admit;
  options.seed = spec.seed;
  return options;
}

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
  config.layers_rule = rules::make_rule({.part = spec.nn, .l2 = spec.l2});
  for (const TowerSpec& of : spec.towers()) {
    block::Tower tower{of.name, {}, of.kind, of.options};
    for (const std::string& word : of.in) tower.inputs.emplace_back(find_input(word)->tensor);
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

Model::Model(Spec spec, std::uint64_t memory_limit)
    : Model(std::move(spec), std::vector<feature::NamespacePlan>(), memory_limit) {}

Model::Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit,
             Use use, std::vector<kernels::Codec> rows)
    : spec_(std::move(spec)), rows_(std::move(rows)) {
  check_spec(spec_);
  // However it was said, so that such models are of one line.
  if (spec_.state_bits == spec_.usual_state_bits()) spec_.state_bits = 0;
  features_ = std::make_shared<feature::FeatureMap>(spec_.map_options(), std::move(plans));
  tables_ = std::make_shared<table::Tables>(shard_options(spec_, config(), use),
                                            spec_.bit_precision, memory_limit);
  tables_->note_use(spec_.forgets());
  fit_fields();
}

Model::Model(Spec spec, std::shared_ptr<feature::FeatureMap> features,
             std::shared_ptr<table::Tables> tables)
    : spec_(std::move(spec)), features_(std::move(features)), tables_(std::move(tables)) {
  tables_->note_use(spec_.forgets());
}

void Model::set_spec(Spec spec) {
  // Ages are counted in thirds of it.
  if (spec.expire != spec_.expire) table::make_young(*tables_);
  spec_ = std::move(spec);
  tables_->note_use(spec_.forgets());
  if (parameters_.has_arrays()) declare(parameters_.layout);  // rules have other rates
}

block::Config Model::config() const { return config_of(spec_, rows_); }

void Model::fit(std::uint32_t fields) {
  const tape::Extent to{fields};
  if (parameters_.has_arrays() && to.fields == parameters_.layout.fields) return;
  tables().fit(to.fields);
  declare(to);
}

void Model::declare(tape::Extent to) {
  parameters_.fit(to, std::make_shared<tape::Declarations>(net::declare_all(config(), to)));
}

}  // namespace leveret::model
