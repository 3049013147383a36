/// Matrices whose rows become columns.
#pragma once

#include <cstddef>

namespace leveret::block {

/// `count` matrices, one behind the other, each of `rows` by `columns` in rows.
inline void transpose(std::size_t count, const float* in, std::size_t rows, std::size_t columns,
                      float* out) {
  for (std::size_t i = 0; i < count; ++i, in += rows * columns, out += rows * columns) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t r = 0; r < rows; ++r) out[c * rows + r] = in[r * columns + c];
    }
  }
}

}  // namespace leveret::block
