#include "cli/look/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/look/weights.h"
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
  named_.for_each(chunk, example, batch, [&](const FeatureNames::Named& named) {
    to += '\t';
    to += named.name;
    append_index(named.feature.hash, named.feature.value, to);
    append_weights(named, to);
  });
  if (spec_.constant) append_constant(to);
  to += '\n';
}

void AuditText::append_index(std::uint32_t hash, float value, std::string& to) const {
  const std::uint32_t bits = spec_.bit_precision;
  const std::uint32_t index = bits > 0 ? hash & ((1u << bits) - 1) : hash;
  fmt::format_to(std::back_inserter(to), ":{}:{}", index, value);
}

void AuditText::append_weights(const Named& entry, std::string& to) const {
  if (model_ == nullptr) return;
  const bool linear = entry.plan == nullptr || entry.plan->linear;
  const std::uint32_t group = entry.group();
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
void AuditText::append_row(const Named& entry, std::string& to) const {
  bool has_row = false;
  float squares = 0;
  if (entry.plan != nullptr && spec_.has_rows()) {
    for (const std::uint32_t field : entry.plan->fields) {
      const table::Shard& shard = model_->tables().field(field);
      const table::Slot* const slot = shard.find(table::key_of(entry.feature.hash));
      const table::Row row = slot != nullptr ? shard.row_of(*slot) : shard.row_of_unknown();
      if (row == table::kNoRow) continue;
      has_row = true;
      squares += row_squares(shard, row);
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

void AuditText::append_explanation(const predict::Explanation& explanation, std::string& to) const {
  to += "explain";
  append_head(to, "base", explanation.base);
  for (const predict::Explanation::Part& part : explanation.parts) {
    append_head(to, names_.name(part.name), part.contribution);
  }
  append_head(to, "last", explanation.score);
  to += '\n';
}

}  // namespace leveret::cli
