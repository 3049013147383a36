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

/// A line for each kind. The order is that of the words in help.
inline constexpr ModuleKind kModuleKinds[] = {
    {"linear", "", make_module<LinearModule>},
    {"attention", "heads width", make_module<AttentionModule>},
    {"convolution", "filters", make_module<ConvolutionModule>},
    {"cross", "", make_module<CrossModule>},
    {"dot", "width", make_module<DotModule>},
    {"product", "width", make_module<ProductModule>},
    {"mlp", "width", make_mlp},
    {"experts", "width experts top", make_experts},
};

/// Their words: values of a key of towers, whose number is that of the kind.
inline constexpr auto kModuleWords = [] {
  std::array<const char*, std::size(kModuleKinds)> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = kModuleKinds[i].word;
  return words;
}();

}  // namespace leveret::block
