/// The checksum of what a cache file holds.
#pragma once

#include <cstdint>
#include <string_view>

namespace leveret::cache {

/// XXH3, 64 bits.
std::uint64_t cache_checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace leveret::cache
