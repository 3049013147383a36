#include "model/spec_idle.h"

#include <algorithm>
#include <initializer_list>

namespace leveret::model {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// AdaGrad's power and first sum, of each part that has another rule.
bool is_adagrad_of_other_rule(std::string_view name, OptimizerKind rule) {
  const bool linear = is_one_of(name, {"power_t", "init_acc_gradient"});
  const bool ffm = is_one_of(name, {"ffm_power_t", "ffm_init_acc_gradient", "adagrad"});
  const bool nn = is_one_of(name, {"nn_power_t", "nn_init_acc_gradient"});
  switch (rule) {
    case OptimizerKind::kAdagrad:
      return false;
    case OptimizerKind::kSgd:
      return linear || ffm || nn;
    case OptimizerKind::kFtrl:
      return linear;
    case OptimizerKind::kAdam:
      return nn;
  }
  return false;
}

}  // namespace

const char* idle_without(std::string_view name, const Spec& spec) {
  if (spec.optimizer != OptimizerKind::kFtrl && is_one_of(name, {"l1", "ftrl_beta"})) {
    return "--optimizer ftrl";
  }
  if (name == "hidden" && !spec.has_ffm()) return "an FFM, and --ffm_k is 0";
  const bool of_rows =
      name == "admit" || name == "adagrad" || (name.starts_with("ffm_") && name != "ffm_k");
  if (!spec.has_rows() && of_rows) {
    return "a factorization machine, and --ffm_k and --fm_k are 0";
  }
  if (name == "batch_warmup" && spec.batch_size == 1 && spec.batch_warmup > 0) {
    return "--batch_size above 1";
  }
  if (name == "fast_head" && !spec.mixed()) return "--heads mixed";
  if (!spec.has_mlp() && name.starts_with("nn_")) {
    return "ReLU layers (--hidden), and there are none";
  }
  if (is_adagrad_of_other_rule(name, spec.optimizer)) return "--optimizer adagrad";
  return nullptr;
}

}  // namespace leveret::model
