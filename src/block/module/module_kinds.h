/// The table of the kinds of modules.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>

#include "block/module/attention_module.h"
#include "block/module/convolution_module.h"
#include "block/module/cross_module.h"
#include "block/module/dot_module.h"
#include "block/module/experts_module.h"
#include "block/module/linear_module.h"
#include "block/module/module.h"
#include "block/module/product_module.h"

namespace leveret::block {

struct ModuleKind {
  const char* word;
  const char* help;      ///< one line
  const char* settings;  ///< the keys of the tower that it reads, between blanks
  std::unique_ptr<Module> (*make)(const ModulePlace& place);
};

template <class M>
std::unique_ptr<Module> make_module(const ModulePlace& place) {
  return std::make_unique<M>(place);
}

inline std::unique_ptr<Module> make_mlp(const ModulePlace& place) {
  return std::make_unique<ExpertsModule>(place, 1, 1);
}
inline std::unique_ptr<Module> make_experts(const ModulePlace& place) {
  return std::make_unique<ExpertsModule>(place, place.setting("experts"), place.setting("top"));
}

/// A line for each kind. The order is that of help.
inline constexpr ModuleKind kModuleKinds[] = {
    {"linear", "weighted sums of tokens", "", make_module<LinearModule>},
    {"attention", "a transformer encoder layer", "heads width", make_module<AttentionModule>},
    {"convolution", "filters of 3 by 3 numbers", "filters", make_module<ConvolutionModule>},
    {"cross", "products of two sums of tokens", "", make_module<CrossModule>},
    {"dot", "inner products, as DLRM has them", "width", make_module<DotModule>},
    {"product", "squares of sums, as PNN has them", "width", make_module<ProductModule>},
    {"mlp", "a hidden layer over all numbers", "width", make_mlp},
    {"experts", "a mixture of several mlp", "width experts top", make_experts},
};

/// Their words: values of a key of towers, whose number is that of the kind.
inline constexpr auto kModuleWords = [] {
  std::array<const char*, std::size(kModuleKinds)> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = kModuleKinds[i].word;
  return words;
}();

}  // namespace leveret::block
