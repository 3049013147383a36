/// The lines that `audit` prints about one example: its features in VW's form, and, with a model,
/// what each head and each field adds to the prediction.
#pragma once

#include <string>

#include "cli/look/audit_facts.h"
#include "predict/explainer.h"
#include "spec/spec.h"
#include "text/namespace_names.h"

namespace leveret::cli {

/// The line of features; `with_model`: with weights.
void append_features(const AuditedExample& example, const spec::Spec& spec, bool with_model,
                     std::string& to);
/// The lines of heads and of fields.
void append_scores(const AuditedExample& example, std::string& to);
/// The line of what each namespace adds.
void append_explanation(const predict::Explanation& explanation, const text::NamespaceNames& names,
                        std::string& to);

}  // namespace leveret::cli
