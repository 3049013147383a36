/// How text is to be parsed for a model.
#pragma once

#include "feature/transform.h"
#include "model/spec.h"
#include "text/parser.h"

namespace leveret::model {

inline text::ParserOptions parser_options(const Spec& spec) {
  text::ParserOptions options;
  options.hash = spec.hash;
  options.hash_seed = spec.hash_seed;
  options.numbers = feature::number_namespaces(spec.features.transforms);
  return options;
}

}  // namespace leveret::model
