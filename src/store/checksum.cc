#include "store/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace leveret::store {

Checksum checksum_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string to_hex(const Checksum& checksum) {
  return fmt::format("{:016x}{:016x}", checksum.high, checksum.low);
}

}  // namespace leveret::store
