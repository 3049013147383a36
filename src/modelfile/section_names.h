/// Names, types and declarations of the sections of a model file; both who saves and
/// who loads asks here.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "kernels/rows/codec.h"
#include "store/section.h"
#include "table/learned.h"

namespace leveret::modelfile {

/// Shard 0 is that of features without a field.
inline std::string shard_prefix(std::size_t shard) {
  return shard == 0 ? std::string("rest.") : fmt::format("field.{}.", shard - 1);
}
/// Before the names of what belongs to the features for which there was no memory.
inline std::string overflow_prefix(std::string_view prefix) {
  return fmt::format("{}overflow.", prefix);
}

/// The name of an array of rows: weights of a part, or one of its states.
inline std::string weights_name(std::string_view prefix, std::size_t part) {
  return fmt::format("{}rows.{}.weights", prefix, part);
}
inline std::string state_name(std::string_view prefix, std::size_t part, std::size_t state) {
  return fmt::format("{}rows.{}.state.{}", prefix, part, state);
}

/// The scales of rows that have one each.
inline std::string scales_name(std::string_view codes) { return fmt::format("{}.scales", codes); }

/// A part that is not stored in memory has no section either.
inline bool is_stored(kernels::Codec codec) { return codec.kind != kernels::Codec::Kind::kNone; }

inline store::Dtype dtype_of(kernels::Codec codec) {
  switch (codec.kind) {
    case kernels::Codec::Kind::kBf16:
      return store::Dtype::kBf16;
    case kernels::Codec::Kind::kFixed:
    case kernels::Codec::Kind::kScaled:
      return codec.bits == 4    ? store::Dtype::kI4
             : codec.bits == 8  ? store::Dtype::kI8
             : codec.bits == 12 ? store::Dtype::kI12
                                : store::Dtype::kI16;
    default:
      return store::Dtype::kF32;
  }
}

/// Fixed-point numbers of a type of integers (not u16), of which a code counts 2^-shift.
inline kernels::Codec fixed_codec(store::Dtype dtype, int shift = 0) {
  return kernels::Codec::fixed(static_cast<int>(store::dtype_bits(dtype)), shift);
}

/// The type of an array of floats or doubles.
template <class T>
constexpr store::Dtype dtype_of() {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  return sizeof(T) == 4 ? store::Dtype::kF32 : store::Dtype::kF64;
}

inline store::Role role_of(table::Learned kind) {
  switch (kind) {
    case table::Learned::kState:
      return store::Role::kState;
    case table::Learned::kStatistic:
      return store::Role::kStatistic;
    default:
      return store::Role::kParameter;
  }
}

/// `keys`: as in store::Declaration.
inline store::Declaration declared(store::Role role, std::uint32_t keys = 0) {
  store::Declaration declaration;
  declaration.role = role;
  declaration.keys = keys;
  return declaration;
}
inline store::Declaration declared(store::Role role, std::uint32_t keys, kernels::Codec codec) {
  store::Declaration declaration = declared(role, keys);
  if (codec.kind == kernels::Codec::Kind::kFixed) {
    declaration.coding = store::Coding::kFixed;
    declaration.scale = codec.unit();
  }
  if (codec.is_scaled()) declaration.coding = store::Coding::kFixedByRow;
  return declaration;
}

}  // namespace leveret::modelfile
