#include "cache/cache_checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace leveret::cache {

std::uint64_t cache_checksum(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace leveret::cache
