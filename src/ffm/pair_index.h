/// The order of all pairs of fields.
#pragma once

#include <cstddef>

namespace leveret::ffm {

/// The place of pair f <= g. Every pair stands once (DiagMask of the FW paper, section 2.1), so
/// that a new field only appends.
constexpr std::size_t pair_index(std::size_t f, std::size_t g) { return g * (g + 1) / 2 + f; }

}  // namespace leveret::ffm
