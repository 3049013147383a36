/// The table of the kinds of towers.
#pragma once

#include <span>
#include <string_view>

#include "block/tower/tower.h"

namespace leveret::net {

/// In the order in which help names them.
std::span<const block::TowerKind* const> tower_kinds();
/// Null where no kind has this word.
const block::TowerKind* find_tower_kind(std::string_view word);

}  // namespace leveret::net
