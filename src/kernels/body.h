/// The whole table for one instruction set.
#pragma once

#include "kernels/dense/dense_body.h"
#include "kernels/dense/small_matrix_body.h"
#include "kernels/dense/vector_body.h"
#include "kernels/ffm/embedding_body.h"
#include "kernels/ffm/ffm_batch_body.h"
#include "kernels/ffm/ffm_body.h"
#include "kernels/ffm/pair_list_body.h"
#include "kernels/ffm/pairs_body.h"
#include "kernels/ffm/pairs_choice_body.h"
#include "kernels/rows/changes_body.h"
#include "kernels/rows/gather_scatter_body.h"
#include "kernels/rows/quantize_body.h"
#include "kernels/text/text_body.h"

namespace leveret::kernels::generic {

template <InstructionSet Isa>
constexpr Kernels make_table(const char* name, const TextKernels* text) {
  return {
      .name = name,
      .axpy = axpy<Isa>,
      .mix_vectors = mix_vectors<Isa>,
      .add_vector_dots = add_vector_dots<Isa>,
      .ffm_update = ffm_update<Isa>,
      .ffm_update_slice = ffm_update_slice<Isa>,
      .decode = decode<Isa>,
      .add_numbers = add_numbers<Isa>,
      .encode = encode<Isa>,
      .add_changes = add_changes<Isa>,
      .largest = largest<Isa>,
      .quantize = quantize<Isa>,
      .widen = widen<Isa>,
      .narrow = narrow<Isa>,
      .fill_from = fill_from<Isa>,
      .ffm_pairs = ffm_pairs<Isa>,
      .ffm_rectangle = ffm_rectangle<Isa>,
      .ffm_listed_pairs = ffm_listed_pairs<Isa>,
      .ffm_deltas = ffm_deltas<Isa>,
      .ffm_update_pairs = ffm_update_pairs<Isa>,
      .ffm_gradients = ffm_gradients<Isa>,
      .ffm_listed_gradients = ffm_listed_gradients<Isa>,
      .ffm_step_row = ffm_step_row<Isa>,
      .step_vectors = step_vectors<Isa>,
      .dense_forward = dense_forward<Isa>,
      .dense_backward = dense_backward<Isa>,
      .dense_backward_update = dense_backward_update<Isa>,
      .multiply_add = multiply_add<Isa>,
      .softmax = softmax<Isa>,
      .softmax_back = softmax_back<Isa>,
      .update = update<Isa>,
      .squares = squares<Isa>,
      .adagrad_deltas = adagrad_deltas<Isa>,
      .adagrad_gather_scatter = adagrad_gather_scatter<Isa>,
      .step_cells = step_cells<Isa>,
      .total = total<Isa>,
      .centre = centre<Isa>,
      .scale = scale<Isa>,
      .normalise_back = normalise_back<Isa>,
      .dot = dot<Isa>,
      .log = log<Isa>,
      .text = text,
  };
}

}  // namespace leveret::kernels::generic
