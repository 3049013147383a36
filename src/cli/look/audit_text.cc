#include "cli/look/audit_text.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace leveret::cli {
namespace {

void append(std::string& to, fmt::string_view form, float number) {
  fmt::format_to(std::back_inserter(to), fmt::runtime(form), number);
}

void append_score(std::string& to, std::string_view name, float score) {
  to += '\t';
  to += name;
  append(to, ":{:.6g}", score);
}

/// Weight and contribution, - for what the model does not know; row; counts.
void append_weights(const AuditedFeature& feature, const spec::Spec& spec, std::string& to) {
  if (feature.weight) {
    append(to, ":{:.6g}", *feature.weight);
    append(to, ":{:.6g}", feature.contribution);
  } else {
    to += ":-:0";
  }
  if (feature.row_length) {
    append(to, ":{:.4g}", *feature.row_length);
  } else {
    to += ":-";
  }
  if (!spec.mixed()) return;
  append(to, ":{:.6g}", feature.weight2);
  if (spec.fast_head) append(to, ":{:.6g}", feature.fast);
  append(to, ":{:.6g}", feature.clicks);
  append(to, ":{:.6g}", feature.count);
}

}  // namespace

void append_features(const AuditedExample& example, const spec::Spec& spec, bool with_model,
                     std::string& to) {
  for (const AuditedFeature& feature : example.features) {
    to += '\t';
    to += feature.name;
    fmt::format_to(std::back_inserter(to), ":{}:{}", feature.index, feature.value);
    if (with_model) append_weights(feature, spec, to);
  }
  to += '\n';
}

void append_scores(const AuditedExample& example, std::string& to) {
  to += "heads";
  for (const AuditedScore& head : example.heads) append_score(to, head.name, head.score);
  to += '\n';
  for (const AuditedField& field : example.fields) {
    to += field.name.empty() ? "rest" : "field\t" + field.name;
    for (const AuditedScore& score : field.scores) append_score(to, score.name, score.score);
    to += '\n';
  }
}

void append_explanation(const predict::Explanation& explanation, const text::NamespaceNames& names,
                        std::string& to) {
  to += "explain";
  append_score(to, "base", explanation.base);
  for (const predict::Explanation::Part& part : explanation.parts) {
    append_score(to, names.name(part.name), part.contribution);
  }
  append_score(to, "last", explanation.score);
  to += '\n';
}

}  // namespace leveret::cli
