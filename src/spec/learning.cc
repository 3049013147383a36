#include <array>
#include <memory>
#include <optional>

#include "kernels/kernels.h"
#include "spec/makers.h"
#include "spec/optimizer.h"
#include "text/plain_number.h"

namespace leveret::spec {
namespace {

constexpr float kHuge = 1e30f;

/// A number of examples; k and m behind it stand for thousands and millions.
void set_expire(Spec& s, const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  std::uint64_t unit = 1;
  std::string digits = text;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'm')) {
    unit = text.back() == 'k' ? 1000 : 1'000'000;
    digits.pop_back();
  }
  const std::optional<std::uint64_t> count = text::read_whole(digits, 0, kMost / unit);
  if (!count) refuse("expire", text, "a number of examples up to 10^12: 500k, 20m");
  s.expire = *count * unit;
}

/// The entry, which the command line has as a key of a part of --optimizer.
SpecEntry of_part(const char* part, const char* key, SpecEntry entry) {
  entry.key = {"optimizer", part, key};
  return entry;
}

void add_part(std::vector<SpecEntry>& list, const std::array<const char*, 3>& names,
              const char* alias, const char* word, const char* what, PartLearning Spec::*part) {
  // Help texts live as long as the list, which lives for ever.
  static std::vector<std::unique_ptr<std::string>> texts;
  const auto text = [&](const char* about) {
    texts.push_back(std::make_unique<std::string>(fmt::format("{}: {}", what, about)));
    return texts.back()->c_str();
  };
  const SpecEntry rate = rate_entry(
      names[0], alias, "X", text("learning rate"),
      [=](Spec& s) -> float& { return (s.*part).rate; }, 0, kHuge);
  list.push_back(of_part(word, "rate", rate));
  const SpecEntry power = rate_entry(
      names[1], "", "X", text("power of AdaGrad's denominator"),
      [=](Spec& s) -> float& { return (s.*part).power_t; }, 0, 1);
  list.push_back(of_part(word, "power", power));
  SpecEntry first = rate_entry(
      names[2], "", "X", text("first value of AdaGrad's sum of squares"),
      [=](Spec& s) -> float& { return (s.*part).init_acc; }, 0, kHuge);
  // Accumulators of rows and layers hold it from their start.
  first.shape = true;
  list.push_back(of_part(word, "init", first));
}

/// The entries that layers alone have.
void add_layers(std::vector<SpecEntry>& list) {
  const auto of_layers = [&](const char* key, SpecEntry entry) {
    list.push_back(of_part("layers", key, stored_unless("0", entry)));
  };
  SpecEntry warmup = number_entry("nn_warmup", "", "N",
                                  "layers: examples over which the rate rises from 0; 0: none",
                                  &Spec::nn_warmup, 0, 1'000'000'000);
  warmup.shape = false;
  of_layers("warmup", warmup);
  of_layers("clip", rate_entry(
                        "nn_clip", "", "X",
                        "layers: the most norm of a neuron's gradient, summed over a batch; 0: any",
                        [](Spec& s) -> float& { return s.nn_clip; }, 0, kHuge));
  of_layers("l2", rate_entry(
                      "nn_l2", "", "X", "layers: L2 regularisation in place of --l2; 0: that holds",
                      [](Spec& s) -> float& { return s.nn_l2; }, 0, kHuge));
}

}  // namespace

void add_learning(std::vector<SpecEntry>& list) {
  SpecEntry optimizer{"optimizer",
                      "",
                      "[PART=]RULE",
                      "adagrad; sgd; ftrl: FTRL-proximal for the linear part; adam: for layers; or "
                      "the rule of one part, linear=, rows= or layers=, again for another part",
                      true,
                      false,
                      true,
                      set_optimizer,
                      get_optimizer};
  optimizer.holds = has_rules;
  list.push_back(optimizer);
  add_part(list, {"learning_rate", "power_t", "init_acc_gradient"}, "-l", "linear", "linear part",
           &Spec::linear);
  add_part(list, {"ffm_learning_rate", "ffm_power_t", "ffm_init_acc_gradient"}, "", "rows",
           "FFM and embeddings", &Spec::rows);
  add_part(list, {"nn_learning_rate", "nn_power_t", "nn_init_acc_gradient"}, "", "layers", "layers",
           &Spec::nn);
  add_layers(list);
  const SpecEntry l1 = rate_entry(
      "l1", "", "X", "FTRL: L1 regularisation", [](Spec& s) -> float& { return s.l1; }, 0, kHuge);
  list.push_back(of_part("linear", "l1", l1));
  list.push_back(rate_entry(
      "l2", "", "X", "L2 regularisation of every weight that moves",
      [](Spec& s) -> float& { return s.l2; }, 0, kHuge));
  const SpecEntry beta = rate_entry(
      "ftrl_beta", "", "X", "FTRL: beta; alpha is the rate",
      [](Spec& s) -> float& { return s.ftrl_beta; }, 0, kHuge);
  list.push_back(of_part("linear", "beta", beta));
  SpecEntry batch =
      number_entry("batch_size", "", "N", "examples whose gradients are summed and applied once",
                   &Spec::batch_size, 1, 1 << 20);
  batch.shape = false;
  list.push_back(batch);
  SpecEntry warmup = number_entry(
      "batch_warmup", "", "N",
      "a batch has at most one example for each N that were learned before it; 0: all batches have "
      "--batch_size examples",
      &Spec::batch_warmup, 0, 1 << 20);
  warmup.shape = false;
  list.push_back(key_of("batch_size", "warmup", warmup));
  SpecEntry updates = word_entry(
      "per_example_updates",
      "on: the linear part, counts, the fast head and mixers learn each example of a batch by "
      "itself; off: once per batch",
      false, {"off", "on"}, [](Spec & s) -> auto& { return s.per_example_updates; });
  list.push_back(key_of("batch_size", "per_example", updates));
  SpecEntry nn_batch =
      number_entry("nn_batch_size", "", "N",
                   "examples of one step of the MLP, up to 16; the other parts step after each",
                   &Spec::nn_batch_size, 1, kernels::kMostTogether);
  nn_batch.shape = false;
  list.push_back(nn_batch);
}

void add_forgetting(std::vector<SpecEntry>& list) {
  SpecEntry expire{"expire",
                   "",
                   "N",
                   "forget a feature that the last N examples have not had (500k, 20m); 0: never",
                   false,
                   true,
                   false,
                   set_expire,
                   [](const Spec& s) { return fmt::format("{}", s.expire); }};
  list.push_back(stored_unless("0", expire));
  SpecEntry full = word_entry(
      "when_full",
      "what is done where --max_memory is reached: overflow: features that are new share one row; "
      "evict: those that are used least are forgotten",
      false, {"overflow", "evict"}, [](Spec & s) -> auto& { return s.evicts; });
  list.push_back(stored_unless("overflow", full));
}

}  // namespace leveret::spec
