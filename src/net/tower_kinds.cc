#include "net/tower_kinds.h"

#include <algorithm>

namespace leveret::net {
namespace {

/// A line for each kind.
constexpr const block::TowerKind* kTowerKinds[] = {
    &block::kMlpTower,          //
    &block::kFmTower,           //
    &block::kFwfmTower,         //
    &block::kCrossTower,        //
    &block::kCrossMatrixTower,  //
    &block::kAttentionTower,    //
    &block::kDotTower,          //
    &block::kDhenTower,         //
};

}  // namespace

std::span<const block::TowerKind* const> tower_kinds() { return kTowerKinds; }

const block::TowerKind* find_tower_kind(std::string_view word) {
  const auto* const found = std::ranges::find_if(
      kTowerKinds, [&](const block::TowerKind* kind) { return kind->word == word; });
  return found != std::end(kTowerKinds) ? *found : nullptr;
}

}  // namespace leveret::net
