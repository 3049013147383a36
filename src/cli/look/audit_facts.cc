#include "cli/look/audit_facts.h"

#include <algorithm>
#include <cmath>

#include "cli/look/weights.h"
#include "text/hash.h"

namespace leveret::cli {
namespace {

/// The number that a group of features adds: its own, or, of pairs of fields, half of each with
/// another field and all of that within it; so those of all groups add up to the sum.
float of_group(const model::Model& model, const tape::Tape& tape,
               const tape::Contribution& contribution, std::uint32_t group) {
  const tape::Parameters& parameters = model.parameters();
  const float* const numbers = tape[contribution.of].at(0);
  const auto number = [&](std::size_t i) {
    const bool weighted = contribution.weights != tape::ArrayId::kNone;
    return weighted ? parameters[contribution.weights][i] * numbers[i] : numbers[i];
  };
  using tape::Owner;
  if (parameters.declared()[contribution.of].owner == Owner::Kind::kFeatureGroup)
    return number(group);
  const std::uint32_t field = group - 1;
  float sum = number(tape::Join::number_of(Owner::pair(field, field)));
  for (std::uint32_t other = 0; other < parameters.layout.fields; ++other) {
    if (other == field) continue;
    sum += 0.5f * number(tape::Join::number_of(Owner::pair(field, other)));
  }
  return sum;
}

}  // namespace

void AuditFacts::put_features(const text::ExampleChunk& chunk, const text::Example& example,
                              const feature::FeatureBatch& batch, AuditedExample& to) {
  to.features.clear();
  named_.for_each(chunk, example, batch, [&](const Named& one) {
    to.features.push_back(named(one.name, one.feature.hash, one.feature.value));
    if (model_ != nullptr) put_weights(one, to.features.back());
  });
  if (spec_.constant) to.features.push_back(constant());
}

AuditedFeature AuditFacts::named(const std::string& name, std::uint32_t hash, float value) const {
  const std::uint32_t bits = spec_.bit_precision;
  return {.name = name, .index = bits > 0 ? hash & ((1u << bits) - 1) : hash, .value = value};
}

void AuditFacts::put_weights(const Named& named, AuditedFeature& to) const {
  const bool linear = named.plan == nullptr || named.plan->linear;
  const std::uint32_t group = named.group(), hash = named.feature.hash;
  const table::Cell* const cell = linear ? model_->tables().find_cell(group, hash) : nullptr;
  to.row_length = row_length(named);
  if (cell == nullptr) return;
  float value = to.value;
  if (spec_.mixed()) {
    value /= std::max(model_->tables().largest_value(group, hash), std::fabs(value));
    const table::MixedCell& mixed = table::mixed(*cell);
    to.weight2 = table::as_read(mixed.weight2);
    to.fast = mixed.fast;
    to.clicks = mixed.clicks;
    to.count = mixed.count;
  }
  to.weight = table::as_read(cell->weight);
  to.contribution = *to.weight * value;
}

std::optional<float> AuditFacts::row_length(const Named& named) const {
  if (named.plan == nullptr || !spec_.has_rows()) return std::nullopt;
  std::optional<float> squares;
  for (const std::uint32_t field : named.plan->fields) {
    const table::Shard& shard = model_->tables().field(field);
    const table::Slot* const slot = shard.find(table::key_of(named.feature.hash));
    const table::Row row = slot != nullptr ? shard.row_of(*slot) : shard.row_of_unknown();
    if (row != table::kNoRow) squares = squares.value_or(0) + row_squares(shard, row);
  }
  if (squares) squares = std::sqrt(*squares);
  return squares;
}

AuditedFeature AuditFacts::constant() const {
  AuditedFeature to = named("Constant", text::kConstantHash, 1);
  if (model_ == nullptr) return to;
  const tape::Scalars& scalars = model_->parameters().scalars;
  to.weight = to.contribution = scalars.bias;
  if (!spec_.mixed()) return to;
  to.weight2 = scalars.bias2;
  to.fast = scalars.fast_bias;
  to.clicks = static_cast<float>(scalars.clicks);
  to.count = static_cast<float>(scalars.count);
  return to;
}

void AuditFacts::put_scores(const tape::Tape& tape, AuditedExample& to) const {
  const tape::Declarations& declared = model_->parameters().declared();
  to.heads.clear();
  for (const tape::Contribution& contribution : declared.contributions) {
    if (declared[contribution.of].owner != tape::Owner::Kind::kAll) continue;
    to.heads.push_back({contribution.name, tape[contribution.of].values[0]});
  }
  for (const tape::HeadDecl& head : declared.heads) {
    to.heads.push_back({head.name, tape[head.score].values[0]});
  }
  to.heads.push_back({"last", tape.answers[0]});

  to.fields.clear();
  const std::vector<std::string> fields = features_.field_names();
  std::vector<bool> present(model_->parameters().layout.feature_groups());
  const feature::FeatureBatch& batch = *tape.batch;
  for (const feature::LinearRun& run : batch.linear_runs) present[run.group] = true;
  for (const feature::FieldRun& run : batch.runs) present[run.field + 1] = true;
  for (std::uint32_t i = 1; i <= present.size(); ++i) {
    const std::uint32_t group = i < present.size() ? i : 0;  // what has no field comes last
    if (!present[group]) continue;
    to.fields.push_back({group == 0 ? "" : fields[group - 1], scores_of_group(tape, group)});
  }
}

std::vector<AuditedScore> AuditFacts::scores_of_group(const tape::Tape& tape,
                                                      std::uint32_t group) const {
  const tape::Declarations& declared = model_->parameters().declared();
  std::vector<AuditedScore> scores;
  for (const tape::Contribution& contribution : declared.contributions) {
    using Kind = tape::Owner::Kind;
    const Kind owner = declared[contribution.of].owner;
    if (owner == Kind::kAll || (owner == Kind::kPair && group == 0)) continue;
    float sum = of_group(*model_, tape, contribution, group);
    if (contribution.scale != tape::TensorId::kNone) sum *= tape[contribution.scale].values[0];
    scores.push_back({contribution.name, sum});
  }
  return scores;
}

}  // namespace leveret::cli
