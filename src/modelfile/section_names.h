/// What the sections of a model file are called and made of; both who saves and who loads asks
/// here.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "kernels/codec.h"
#include "store/section.h"

namespace leveret::modelfile {

/// Shard 0 is that of features without a field.
inline std::string shard_prefix(std::size_t shard) {
  return shard == 0 ? std::string("rest.") : fmt::format("field.{}.", shard - 1);
}

/// What an array of rows is called: weights of a part, or one of its states.
inline std::string weights_name(std::size_t shard, std::size_t part) {
  return fmt::format("{}rows.{}.weights", shard_prefix(shard), part);
}
inline std::string state_name(std::size_t shard, std::size_t part, std::size_t state) {
  return fmt::format("{}rows.{}.state.{}", shard_prefix(shard), part, state);
}
inline std::string dense_name(std::size_t layer, const char* what) {
  return fmt::format("dense.{}.{}", layer, what);
}

/// What is not stored in memory has no section either.
inline bool is_stored(kernels::Codec codec) { return codec.kind != kernels::Codec::Kind::kNone; }

inline store::Dtype dtype_of(kernels::Codec codec) {
  switch (codec.kind) {
    case kernels::Codec::Kind::kBf16:
      return store::Dtype::kBf16;
    case kernels::Codec::Kind::kFixed:
      return codec.bits == 8 ? store::Dtype::kI8 : store::Dtype::kI16;
    default:
      return store::Dtype::kF32;
  }
}

}  // namespace leveret::modelfile
