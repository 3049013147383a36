/// Scaled dot-product attention of the tokens of one example (Vaswani et al., Attention Is All You
/// Need, 2017, equation 1): of each head
///   a_fg = exp(s <q_f, k_g>) / sum over j of exp(s <q_f, k_j>),   o_f = sum over g of a_fg v_g.
/// On the way back, from d o_f:
///   d v_g = sum over f of a_fg d o_f,   d a_fg = <d o_f, v_g>,
///   d <q_f, k_g> = s a_fg (d a_fg - sum over j of a_fj d a_fj), and from there to q and k.
///
/// Shapes: n tokens, H heads of D numbers each, side by side.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace leveret::block {

struct AttentionShape {
  std::size_t tokens, heads, dim;
  std::size_t stride;  ///< from one token's q (k, v) to the next one's
  float scale = 1.0f;  ///< s
  /// Numbers of what is made of a token.
  std::size_t made() const { return heads * dim; }
  /// Floats of working memory.
  std::size_t scratch() const { return tokens * (tokens + dim); }
};

/// q, k and v of each token, or their gradients.
template <class Float>
struct QueryKeyValue {
  Float *q, *k, *v;
};

/// Adds o to `out`, n * H * D; a goes to `weights`, H * n * n.
void attend(const kernels::Kernels& kernels, const AttentionShape& shape,
            QueryKeyValue<const float> of, float* weights, float* out, float* scratch);

/// Adds to the gradients of q, k and v.
void attend_back(const kernels::Kernels& kernels, const AttentionShape& shape,
                 QueryKeyValue<const float> of, const float* weights, const float* d_out,
                 QueryKeyValue<float> d, float* scratch);

}  // namespace leveret::block
