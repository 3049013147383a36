#include "model/model.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "model/learning_memory.h"
#include "net/make_blocks.h"
#include "spec/config.h"
#include "spec/entries.h"
#include "table/expiry.h"

namespace leveret::model {

table::CellKind cell_kind(const Spec& spec) {
  if (spec.mixed()) return table::CellKind::kMixed;
  return spec.linear.rule == rules::kFtrl ? table::CellKind::kFtrl : table::CellKind::kAdagrad;
}

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

namespace {

/// A spec whose layers fit, as far as is known before there are fields.
Spec checked(Spec spec, std::uint64_t memory_limit) {
  spec::check_spec(spec);
  check_learning_memory(net::declare_all(spec::config_of(spec), {1}), spec, {1, 1}, memory_limit);
  return spec;
}

}  // namespace

Model::Model(Spec spec, std::uint64_t memory_limit)
    : Model(checked(std::move(spec), memory_limit), std::vector<feature::NamespacePlan>(),
            memory_limit) {}

Model::Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit,
             Use use, std::vector<kernels::Codec> rows)
    : spec_(std::move(spec)), rows_(std::move(rows)) {
  spec::check_spec(spec_);
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

block::Config Model::config() const { return spec::config_of(spec_, rows_); }

void Model::fit(std::uint32_t fields) {
  const tape::Extent to{fields};
  if (parameters_.has_arrays() && to.fields == parameters_.layout.fields) return;
  tables().fit(to.fields);
  declare(to);
}

void Model::declare(tape::Extent to) {
  parameters_.fit(to, std::make_shared<tape::Declarations>(net::declare_all(config(), to)));
}

void Model::check_memory(std::uint32_t fields, unsigned threads) const {
  check_learning_memory(net::declare_all(config(), {fields}), spec_, {fields, threads},
                        tables().budget().limit());
}

void Model::check_growth(const text::ExampleChunk& chunk, std::size_t example,
                         unsigned threads) const {
  const feature::FeatureOptions& options = spec_.features;
  const std::uint32_t fields = features().field_count();
  if (!options.fields.empty() || fields >= options.max_fields) return;
  const std::uint32_t unmet = features().count_unmet(chunk, chunk.examples[example]);
  check_memory(std::min(fields + unmet, options.max_fields), threads);
}

}  // namespace leveret::model
