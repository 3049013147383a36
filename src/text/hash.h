/// VW's hashes, exactly (man/leveret-text.5, "HASHING").
#pragma once

#include <cstdint>
#include <string_view>

namespace leveret::text {

enum class HashMode {
  kStrings,  ///< VW's default: all-digit names are their number plus the seed, others murmur3
  kAll,      ///< always murmur3
};

/// murmur3_x86_32.
std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed);

/// VW's hash of a feature or string value.
std::uint32_t hash_name(std::string_view name, std::uint32_t seed, HashMode mode);

/// VW's hash of a namespace by its name, which may be empty.
std::uint32_t hash_namespace(std::string_view name, std::uint32_t seed, HashMode mode);

/// VW's constant feature (before the mask).
inline constexpr std::uint32_t kConstantHash = 11650396;

/// Hash of the pair (a, b), low 32 bits of VW's FNV step, which is all a table ever uses.
inline std::uint32_t hash_pair(std::uint32_t a, std::uint32_t b) { return (16777619u * a) ^ b; }

}  // namespace leveret::text
