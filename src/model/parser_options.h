/// How text is to be parsed for a model.
#pragma once

#include <vector>

#include "feature/line_limit.h"
#include "feature/transform.h"
#include "spec/spec.h"
#include "text/parser.h"

namespace leveret::model {

/// `known`: the namespaces of a model that is there.
inline text::ParserOptions parser_options(const spec::Spec& spec,
                                          const std::vector<feature::NamespacePlan>& known = {}) {
  text::ParserOptions options;
  options.hash = spec.hash;
  options.hash_seed = spec.hash_seed;
  options.numbers = feature::number_namespaces(spec.features);
  options.only_numbers = spec.features.numeric;
  if (feature::LineLimit::needed(spec.features)) {
    options.limit = feature::LineLimit(spec.map_options(), known);
  }
  return options;
}

}  // namespace leveret::model
