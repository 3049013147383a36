#include "block/tower/dhen_block.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "block/dense/layer_back.h"
#include "block/module/module_kinds.h"
#include "block/tower/make_tower.h"

namespace leveret::block {
namespace {

constexpr std::uint32_t kYes = 0;

constexpr const char* kYesOrNo[] = {"yes", "no"};
constexpr const char* kEnsembles[] = {"sum", "weighted", "concat"};  // as Ensemble has them
constexpr TowerKey kDhenKeys[] = {
    {"layers", "1", 16, "layers of modules"},
    {"modules", "dot+linear", 0, "of each layer; a/b: a in the first layer, b in the second",
     /*is_list=*/true, kModuleWords},
    {"tokens", "16", 256, "tokens that each module makes"},
    {"ensemble", "sum", 0, "how the tokens of several modules become one list", /*is_list=*/false,
     kEnsembles},
    {"shortcut", "yes", 0, "each layer adds what comes in", /*is_list=*/false, kYesOrNo},
    {"norm", "yes", 0, "layers normalise each token", /*is_list=*/false, kYesOrNo},
    {"heads", "2", 16, "heads of attention"},
    {"width", "64", 8192, "hidden numbers of attention, dot, product, mlp, experts, --numeric"},
    {"filters", "4", 64, "filters of convolution"},
    {"experts", "4", 64, "experts of a mixture"},
    {"top", "2", 64, "experts that an example passes"},
    {"hidden", "none", 8192, "widths of ReLU layers behind them", /*is_list=*/true}};

/// The modules of each layer.
std::vector<std::vector<std::uint32_t>> modules_of(const Tower& tower) {
  std::vector<std::vector<std::uint32_t>> groups(1);
  for (const std::uint32_t number : tower.numbers("modules")) {
    if (number == TowerKey::kNextGroup) {
      groups.emplace_back();
    } else {
      groups.back().push_back(number);
    }
  }
  if (groups.size() == 1) groups.resize(tower.number("layers"), groups[0]);
  return groups;
}

bool has_module(const Tower& tower, std::string_view word) {
  return std::ranges::any_of(tower.numbers("modules"), [&](std::uint32_t number) {
    return number != TowerKey::kNextGroup && kModuleKinds[number].word == word;
  });
}

/// A setting that nothing of the tower reads, and what to do; empty: there is none.
std::string idle_setting(const Tower& tower) {
  for (const TowerKey& key : kDhenKeys) {
    if (key.name == std::string_view("width") && tower.reads(kNumbers)) continue;  // their token
    std::string readers;
    bool is_read = false;
    for (const ModuleKind& kind : kModuleKinds) {
      if ((" " + std::string(kind.settings) + " ").find(std::string(" ") + key.name + " ") ==
          std::string::npos) {
        continue;
      }
      readers += (readers.empty() ? "" : " or ") + std::string(kind.word);
      is_read |= has_module(tower, kind.word);
    }
    if (readers.empty() || is_read) continue;
    const std::string value = std::to_string(tower.number(key.name));
    if (value == key.fallback) continue;
    return std::string(key.name) + "=" + value + " does nothing without modules=" + readers;
  }
  return {};
}

std::string fault_of_dhen(const Tower& tower, std::uint32_t d) {
  const std::uint32_t heads = tower.number("heads"), layers = tower.number("layers");
  const std::vector<std::vector<std::uint32_t>> groups = modules_of(tower);
  if (groups.size() != layers) {
    return "modules= has " + std::to_string(groups.size()) +
           " groups joined by /, for layers=" + std::to_string(layers) +
           ": give layers=" + std::to_string(groups.size()) + ", or one group for all layers";
  }
  for (const std::vector<std::uint32_t>& group : groups) {
    for (const std::uint32_t number : group) {
      if (std::ranges::count(group, number) > 1) {
        return std::string("modules= has ") + kModuleKinds[number].word + " twice in a layer";
      }
    }
  }
  const std::string idle = idle_setting(tower);
  if (!idle.empty()) return idle;
  const bool attends = has_module(tower, "attention");
  if (attends && d % heads != 0) {
    return "heads=" + std::to_string(heads) + " do not divide --embedding_dim " + std::to_string(d);
  }
  if (d == 1 && (attends || tower.number("norm") == kYes)) {
    return "norm=yes and modules=attention take the mean from each token: give "
           "--embedding_dim 2 or more";
  }
  const std::uint32_t experts = tower.number("experts"), top = tower.number("top");
  if (has_module(tower, "experts") && (experts == 1 || top == 1)) {
    return "top=" + std::to_string(top) + " of experts=" + std::to_string(experts) +
           " leaves a gate nothing to learn: give both 2 or more, or modules=mlp, which is one "
           "expert";
  }
  if (has_module(tower, "experts") && top > experts) {
    return "top=" + std::to_string(top) + " of experts=" + std::to_string(experts) +
           ": an example cannot pass more than there are";
  }
  return {};
}

}  // namespace

constinit const TowerKind kDhenTower = {.word = "dhen",
                                        .help = "layers of interaction modules, as DHEN has them",
                                        .keys = kDhenKeys,
                                        .whole_for_candidates = true,
                                        .chooses_fields = true,
                                        .takes_numbers = true,
                                        .fault = fault_of_dhen,
                                        .make = make_tower_with_layers<DhenBlock>};

void DhenBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  const std::size_t before = declarations.tensors.size();
  Tokens tokens = first_.declare(tower_, tower_.number("width"), config_, layout, declarations);
  std::uint32_t most = tokens.size(layout);
  layers_.clear();
  const std::vector<std::vector<std::uint32_t>> modules = modules_of(tower_);
  for (std::size_t l = 0; l < modules.size(); ++l) {
    const std::string name = tower_.name + ".layer" + std::to_string(l);
    layers_.push_back(std::make_unique<DhenLayer>(
        ModulePlace{name, tower_.number("tokens"), kernels_, &config_, &tower_},
        DhenLayer::Plan{modules[l], static_cast<Ensemble>(tower_.number("ensemble")),
                        tower_.number("shortcut") == kYes, tower_.number("norm") == kYes}));
    const bool last = l + 1 == modules.size();
    tokens = layers_.back()->declare(last ? output_of(tower_) : name, tokens, layout, declarations);
    most = std::max(most, tokens.size(layout));
  }
  back_ = declarations.add(tape::Tensor{.name = tower_.name + ".back", .size = most});
  own_.clear();
  for (std::size_t id = before; id < declarations.tensors.size(); ++id) {
    const tape::Tensor& tensor = declarations.tensors[id];
    if (tensor.only_if_read || tensor.per == tape::Tensor::Per::kBatch) continue;
    own_.push_back(static_cast<tape::TensorId>(id));
  }
}

void DhenBlock::open(const tape::Parameters& parameters, std::size_t, tape::Tape& tape) const {
  for (const auto& layer : layers_) layer->open(parameters, tape);
}

void DhenBlock::finish(const Run& run) const {
  first_.put(run);
  for (const auto& layer : layers_) layer->forward(run);
}

void DhenBlock::finish_back(const Run& run) const {
  clear_unlearned(run.tape, own_);
  float* const back = run.tape[back_].values;
  for (std::size_t l = layers_.size(); l-- > 0;) layers_[l]->backward(run, back);
  first_.hand_back(run);
}

}  // namespace leveret::block
