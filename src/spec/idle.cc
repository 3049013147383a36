#include "spec/idle.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "net/make_blocks.h"
#include "spec/config.h"
#include "spec/towers.h"

namespace leveret::spec {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The rule that --optimizer would have to give for an option of AdaGrad's; null: it gives it, or
/// the option is none of these.
const char* adagrad_missing(std::string_view name, const Spec& spec) {
  const auto other = [](const PartLearning& part) { return part.rule != rules::kAdagrad; };
  // Beside weights that learn by FTRL constants learn by AdaGrad.
  const bool constants = spec.linear.rule == rules::kFtrl && spec.constant;
  if (other(spec.linear) && !constants && is_one_of(name, {"power_t", "init_acc_gradient"})) {
    return "--optimizer linear=adagrad";
  }
  if (other(spec.rows) &&
      is_one_of(name, {"ffm_power_t", "ffm_init_acc_gradient", "adagrad", "state_bits"})) {
    return "--optimizer rows=adagrad";
  }
  if (other(spec.nn) && is_one_of(name, {"nn_power_t", "nn_init_acc_gradient"})) {
    return "--optimizer layers=adagrad";
  }
  return nullptr;
}

/// Whether towers have weights, in layers or beside them; or cannot be, of which others tell.
bool towers_learn(const Spec& spec) {
  try {
    check_towers(spec);
  } catch (const std::runtime_error&) {
    return true;
  }
  const tape::Declarations declared = net::declare_all(config_of(spec), {2});
  return !declared.layers.empty() ||
         std::ranges::any_of(declared.weights_beside_layers(), [&](tape::ArrayId id) {
           return declared[id].owner == tape::Owner::Kind::kAll;
         });
}

}  // namespace

const char* idle_without(std::string_view name, const Spec& spec) {
  if (spec.linear.rule != rules::kFtrl && is_one_of(name, {"l1", "ftrl_beta"})) {
    return "--optimizer linear=ftrl";
  }
  if (name == "hidden" && !spec.has_ffm()) {
    return "a factorization machine: --ffm_k is 0";
  }
  const bool of_rows = is_one_of(name, {"admit", "adagrad", "state_bits"}) ||
                       (name.starts_with("ffm_") && name != "ffm_k");
  if (!spec.has_rows() && of_rows) {
    return "a factorization machine or embeddings: --ffm_k and --embedding_dim are 0";
  }
  if ((name == "embedding_dim" && spec.embedding_dim > 0 && !spec.has_embeddings()) ||
      (name == "pool" && !spec.has_embeddings())) {
    return "a --tower that reads embeddings";
  }
  if (name == "batch_warmup" && spec.batch_size == 1 && spec.batch_warmup > 0) {
    return "--batch_size above 1";
  }
  const bool no_keys = spec.bit_precision > 0 && !spec.has_rows();
  if (no_keys && is_one_of(name, {"expire", "when_full"}) && spec.forgets()) {
    return "tables with keys: -b (--bit_precision) makes one without";
  }
  if (name == "fast_head" && !spec.mixed()) return "--heads mixed";
  const bool in_groups = name == "nn_batch_size";  // layers alone
  if (name.starts_with("nn_") && !(in_groups ? spec.has_layers() : towers_learn(spec))) {
    return "layers (--hidden, --tower)";
  }
  return adagrad_missing(name, spec);
}

}  // namespace leveret::spec
