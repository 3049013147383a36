/// Fully connected layers on the way back.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/kernels.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::block {

/// Hands a layer's gradient to the tape's sink, which moves its weights, or, where there is none,
/// leaves that out; makes d loss / d `in`. All examples of the tape. `layer`: its number in
/// Parameters. `d_out`: d loss / d output, side by side; `d_in`: as far apart as `in`.
void layer_back(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                tape::Tape& tape, std::size_t layer, const tape::TensorPlace& in,
                const float* d_out, float* d_in);

/// Makes the inputs 0 of examples that are not learned from: these must not meet the gradients of
/// others, as 0 times what is not finite is not 0.
void clear_unlearned(tape::Tape& tape, std::span<const tape::TensorId> inputs);

}  // namespace leveret::block
