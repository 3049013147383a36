/// `--optimizer`: by which rule each part of a model learns.
#pragma once

#include <string>

#include "model/spec.h"

namespace leveret::model {

/// From "adagrad", "sgd", "ftrl" (the linear part; the others by AdaGrad), "adam" (layers; the
/// others by AdaGrad), or a rule for each of some parts,
/// "linear=ftrl,rows=sgd:rate=.1,layers=adam", where the others learn by AdaGrad.
/// std::runtime_error says what is wrong.
void set_optimizer(Spec& spec, const std::string& text);

/// The word where one says it, else the rule of each part. Rates are entries of their own.
std::string get_optimizer(const Spec& spec);

}  // namespace leveret::model
