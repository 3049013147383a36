#include "store/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace leveret::store {
namespace {

Checksum from(const XXH128_hash_t& hash) { return {hash.low64, hash.high64}; }

}  // namespace

struct Checksummer::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* xxh;
};

Checksum checksum_of(std::span<const std::byte> bytes) {
  return from(XXH3_128bits(bytes.data(), bytes.size()));
}

std::uint64_t seeded_checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Checksummer::Checksummer() : state_(std::make_unique<State>()) {}

Checksummer::~Checksummer() = default;
Checksummer::Checksummer(Checksummer&& other) noexcept = default;
Checksummer& Checksummer::operator=(Checksummer&& other) noexcept = default;

void Checksummer::add(std::span<const std::byte> part) {
  XXH3_128bits_update(state_->xxh, part.data(), part.size());
}

Checksum Checksummer::get() const { return from(XXH3_128bits_digest(state_->xxh)); }

std::string to_hex(const Checksum& checksum) {
  return fmt::format("{:016x}{:016x}", checksum.high, checksum.low);
}

}  // namespace leveret::store
