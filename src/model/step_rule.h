/// How the kernels step the weights of one part of a model.
#pragma once

#include "kernels/kernels.h"
#include "model/spec.h"

namespace leveret::model {

inline kernels::StepRule step_rule(const Spec& spec, const PartLearning& part) {
  return {part.rate, spec.optimizer == OptimizerKind::kSgd ? 0.0f : part.power_t, spec.l2};
}

}  // namespace leveret::model
