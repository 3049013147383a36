/// Fully connected layers on the way back.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/kernels.h"
#include "tape/gradients.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::block {

/// Hands a layer's gradient to the tape's sink, which moves its weights, or, where there is none,
/// leaves that out; makes d loss / d in.
void layer_back(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                tape::Tape& tape, const tape::LayerGradient& gradient);
/// The same of a layer over a tensor, each example a row. `layer`: its number in Parameters.
void layer_back(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                tape::Tape& tape, std::size_t layer, const tape::TensorPlace& in,
                const float* d_out, float* d_in);

/// Makes the inputs 0 of examples that are not learned from: these must not meet the gradients of
/// others, as 0 times what is not finite is not 0.
void clear_unlearned(tape::Tape& tape, std::span<const tape::TensorId> inputs);

}  // namespace leveret::block
