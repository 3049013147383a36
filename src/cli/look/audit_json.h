/// The same as audit_text.h, as an object of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/look/audit_facts.h"
#include "predict/explainer.h"
#include "predict/outcome.h"
#include "spec/spec.h"
#include "text/namespace_names.h"

namespace leveret::cli {

/// features; `with_model`: with weights.
void put_features(const AuditedExample& example, const spec::Spec& spec, bool with_model,
                  nlohmann::ordered_json& to);
/// prediction, tag where there is one, heads, fields, and rest where there is one.
void put_scores(const AuditedExample& example, const predict::Outcome& outcome,
                std::string_view tag, nlohmann::ordered_json& to);
/// explanation.
void put_explanation(const predict::Explanation& explanation, const text::NamespaceNames& names,
                     nlohmann::ordered_json& to);

}  // namespace leveret::cli
