/// The checksums of our files: XXH3 with 128 bits, or 64 for parts of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace leveret::store {

struct Checksum {
  std::uint64_t low, high;
  bool operator==(const Checksum&) const = default;
};

/// At the speed of memory.
Checksum checksum_of(std::span<const std::byte> bytes);

/// XXH3 with 64 bits and a seed, for parts of a stream: the seed says which part it is.
std::uint64_t seeded_checksum(std::span<const std::byte> bytes, std::uint64_t seed);

/// checksum_of for bytes that come in parts.
class Checksummer {
 public:
  Checksummer();
  ~Checksummer();
  Checksummer(Checksummer&& other) noexcept;
  Checksummer& operator=(Checksummer&& other) noexcept;
  Checksummer(const Checksummer&) = delete;
  Checksummer& operator=(const Checksummer&) = delete;
  void add(std::span<const std::byte> part);
  Checksum get() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 32 hexadecimal digits, the high ones first, as `xxhsum -H2` prints them.
std::string to_hex(const Checksum& checksum);

}  // namespace leveret::store
