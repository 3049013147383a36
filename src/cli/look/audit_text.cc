#include "cli/look/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "text/hash.h"

namespace leveret::cli {
namespace {

void append(std::string& to, fmt::string_view form, float number) {
  fmt::format_to(std::back_inserter(to), fmt::runtime(form), number);
}

void append_head(std::string& to, std::string_view name, float score) {
  to += '\t';
  to += name;
  append(to, ":{:.6g}", score);
}

/// What a group of features adds: its own number, or, of pairs of fields, half of each with another
/// field and all of that within it; so those of all groups add up to the sum.
float of_group(const model::Model& model, const tape::Tape& tape,
               const tape::Contribution& contribution, std::uint32_t group) {
  const tape::Parameters& parameters = model.parameters();
  const float* const numbers = tape[contribution.of].at(0);
  const auto number = [&](std::size_t i) {
    const bool weighted = contribution.weights != tape::ArrayId::kNone;
    return weighted ? parameters[contribution.weights][i] * numbers[i] : numbers[i];
  };
  using tape::Owner;
  if (parameters.declared()[contribution.of].owner == Owner::Kind::kGroup) return number(group);
  const std::uint32_t field = group - 1;
  float sum = number(tape::Join::number_of(Owner::pair(field, field)));
  for (std::uint32_t other = 0; other < parameters.layout.fields; ++other) {
    if (other == field) continue;
    sum += 0.5f * number(tape::Join::number_of(Owner::pair(field, other)));
  }
  return sum;
}

}  // namespace

void AuditText::append_features(const text::ExampleChunk& chunk, const text::Example& example,
                                const feature::FeatureBatch& batch, std::string& to) {
  const text::ExampleChunk& derived = batch.derived.chunk;
  of_plans_ = !derived.examples.empty();
  if (of_plans_) {
    append_mapped(derived, derived.examples[0], batch, to);
  } else {
    append_mapped(chunk, example, batch, to);
  }
}

void AuditText::append_mapped(const text::ExampleChunk& chunk, const text::Example& example,
                              const feature::FeatureBatch& batch, std::string& to) {
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const feature::NamespacePlan& plan = plan_of(run.name);
    if (!plan.keep) continue;
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      to += '\t';
      append_name(chunk, example, f, to);
      append_index(chunk.features[f].hash, chunk.features[f].value, to);
      append_weights({chunk.features[f], &plan}, to);
    }
  }
  for (std::size_t i = 0; i < batch.parents.size(); ++i) {
    const auto& [a, b, c] = batch.parents[i];
    to += '\t';
    append_name(chunk, example, a, to);
    to += '*';
    append_name(chunk, example, b, to);
    if (c != feature::kNoParent) {
      to += '*';
      append_name(chunk, example, c, to);
    }
    append_index(batch.linear[i].hash, batch.linear[i].value, to);
    append_weights({batch.linear[i], nullptr}, to);
  }
  if (spec_.constant) append_constant(to);
  to += '\n';
}

const feature::NamespacePlan& AuditText::plan_of(std::uint32_t name_id) {
  if (of_plans_) return features_.plans()[name_id];
  if (name_id >= plan_at_.size()) plan_at_.resize(name_id + std::size_t{1});
  std::uint32_t& at = plan_at_[name_id];
  if (at == 0) {
    const auto& plans = features_.plans();
    const auto found =
        std::ranges::find(plans, names_.name(name_id), &feature::NamespacePlan::name);
    at = static_cast<std::uint32_t>(found - plans.begin()) + 1;
  }
  return features_.plans()[at - 1];
}

/// `namespace^name`, `namespace^name^text` for a text value; the default namespace has no name.
void AuditText::append_name(const text::ExampleChunk& chunk, const text::Example& example,
                            std::uint32_t feature, std::string& to) const {
  const auto run = std::ranges::upper_bound(chunk.runs.begin() + example.runs_begin,
                                            chunk.runs.begin() + example.runs_end, feature, {},
                                            &text::NamespaceRun::end);
  const std::string_view space =
      of_plans_ ? std::string_view(features_.plans()[run->name].name) : names_.name(run->name);
  const text::FeatureName& name = chunk.names[feature];
  if (!space.empty()) {
    to += space;
    to += '^';
  }
  to += chunk.view(name.name_begin, name.name_size);
  if (name.value_size == 0) return;
  to += '^';
  to += chunk.view(name.value_begin, name.value_size);
}

void AuditText::append_index(std::uint32_t hash, float value, std::string& to) const {
  const std::uint32_t bits = spec_.bit_precision;
  const std::uint32_t index = bits > 0 ? hash & ((1u << bits) - 1) : hash;
  fmt::format_to(std::back_inserter(to), ":{}:{}", index, value);
}

void AuditText::append_weights(const Entry& entry, std::string& to) const {
  if (model_ == nullptr) return;
  const bool linear = entry.plan == nullptr || entry.plan->linear;
  const bool in_field = entry.plan != nullptr && !entry.plan->fields.empty();
  const std::uint32_t group = in_field ? entry.plan->fields[0] + 1 : 0;
  const table::Cell* const cell =
      linear ? model_->tables().find_cell(group, entry.feature.hash) : nullptr;
  float value = entry.feature.value;
  if (spec_.mixed() && cell != nullptr) {
    value /= std::max(model_->tables().largest_value(group, entry.feature.hash), std::fabs(value));
  }
  append_cell(cell, value, to);
  append_row(entry, to);
  append_counts(cell, to);
}

/// Weight and contribution; `-` for what the model does not know.
void AuditText::append_cell(const table::Cell* cell, float value, std::string& to) const {
  if (cell == nullptr) {
    to += ":-:0";
    return;
  }
  append(to, ":{:.6g}", table::as_read(cell->weight));
  append(to, ":{:.6g}", table::as_read(cell->weight) * value);
}

/// The length of its rows' weights; `-` when it has none.
void AuditText::append_row(const Entry& entry, std::string& to) const {
  bool has_row = false;
  float squares = 0;
  if (entry.plan != nullptr && spec_.has_rows()) {
    for (const std::uint32_t field : entry.plan->fields) {
      const table::Shard& shard = model_->tables().field(field);
      const table::Slot* const slot = shard.find(table::key_of(entry.feature.hash));
      const table::Row row = slot != nullptr ? shard.row_of(*slot) : shard.row_of_unknown();
      if (row == table::kNoRow) continue;
      has_row = true;
      const table::RowLayout& layout = shard.rows().layout();
      for (std::size_t p = 0; p < layout.parts().size(); ++p) {
        const table::RowLayout::Column& weights = layout.weights(p);
        for (std::size_t i = 0; i < weights.count; ++i) {
          const float weight =
              kernels::decode(weights.codec, shard.rows().at(row) + weights.begin, i);
          squares += weight * weight;
        }
      }
    }
  }
  if (has_row) {
    append(to, ":{:.4g}", std::sqrt(squares));
  } else {
    to += ":-";
  }
}

void AuditText::append_counts(const table::Cell* cell, std::string& to) const {
  if (!spec_.mixed()) return;
  const table::MixedCell none{};
  const table::MixedCell& counts = cell != nullptr ? table::mixed(*cell) : none;
  append(to, ":{:.6g}", table::as_read(counts.weight2));
  if (spec_.fast_head) append(to, ":{:.6g}", counts.fast);
  append(to, ":{:.6g}", counts.clicks);
  append(to, ":{:.6g}", counts.count);
}

void AuditText::append_constant(std::string& to) const {
  to += "\tConstant";
  append_index(text::kConstantHash, 1, to);
  if (model_ == nullptr) return;
  const tape::Scalars& scalars = model_->parameters().scalars;
  append(to, ":{:.6g}", scalars.bias);
  append(to, ":{:.6g}:-", scalars.bias);
  if (!spec_.mixed()) return;
  append(to, ":{:.6g}", scalars.bias2);
  if (spec_.fast_head) append(to, ":{:.6g}", scalars.fast_bias);
  append(to, ":{:.6g}", static_cast<float>(scalars.clicks));
  append(to, ":{:.6g}", static_cast<float>(scalars.count));
}

void AuditText::append_heads(const tape::Tape& tape, std::string& to) const {
  const tape::Declarations& declared = model_->parameters().declared();
  to += "heads";
  for (const tape::Contribution& contribution : declared.contributions) {
    if (declared[contribution.of].owner != tape::Owner::Kind::kAll) continue;
    append_head(to, contribution.name, tape[contribution.of].values[0]);
  }
  for (const tape::HeadDecl& head : declared.heads) {
    append_head(to, head.name, tape[head.score].values[0]);
  }
  append_head(to, "last", tape.answers[0]);
  to += '\n';

  const std::vector<std::string> fields = features_.field_names();
  std::vector<bool> present(model_->parameters().layout.groups());
  const feature::FeatureBatch& batch = *tape.batch;
  for (const feature::LinearRun& run : batch.linear_runs) present[run.group] = true;
  for (const feature::FieldRun& run : batch.runs) present[run.field + 1] = true;
  for (std::uint32_t i = 1; i <= present.size(); ++i) {
    const std::uint32_t group = i < present.size() ? i : 0;  // what has no field comes last
    if (!present[group]) continue;
    to += group == 0 ? "rest" : "field\t" + fields[group - 1];
    append_contributions(tape, group, to);
    to += '\n';
  }
}

void AuditText::append_contributions(const tape::Tape& tape, std::uint32_t group,
                                     std::string& to) const {
  const tape::Declarations& declared = model_->parameters().declared();
  for (const tape::Contribution& contribution : declared.contributions) {
    using Kind = tape::Owner::Kind;
    const Kind owner = declared[contribution.of].owner;
    if (owner == Kind::kAll || (owner == Kind::kPair && group == 0)) continue;
    float sum = of_group(*model_, tape, contribution, group);
    if (contribution.scale != tape::TensorId::kNone) sum *= tape[contribution.scale].values[0];
    append_head(to, contribution.name, sum);
  }
}

}  // namespace leveret::cli
