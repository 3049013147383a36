#include "text/hash.h"

#include "kernels/text/short_hash.h"

namespace leveret::text {

std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint32_t h = seed;
  for (; left >= 4; left -= 4, p += 4) h = kernels::murmur_round(h, kernels::load_le32(p));
  std::uint32_t tail = 0;
  for (std::size_t i = 0; i < left; ++i) {
    tail |= static_cast<std::uint32_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  }
  // A tail of zero bytes mixes to 0, so it needs no case of its own.
  return kernels::murmur_finish(h ^ kernels::murmur_mix(tail),
                                static_cast<std::uint32_t>(bytes.size()));
}

namespace {

/// VW trims bytes 0x00 to 0x20, never those from 0x80 on.
std::string_view trim(std::string_view name) {
  auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!name.empty() && is_blank(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  return name;
}

}  // namespace

std::uint32_t hash_name(std::string_view name, std::uint32_t seed, HashMode mode) {
  if (mode == HashMode::kAll) return murmur3(name, seed);
  name = trim(name);
  // Only the low 32 bits of VW's 64-bit number reach a table, and they are those of a 32-bit one.
  std::uint32_t number = 0;
  for (char c : name) {
    if (c < '0' || c > '9') return murmur3(name, seed);
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number + seed;
}

std::uint32_t hash_namespace(std::string_view name, std::uint32_t seed, HashMode mode) {
  if (!name.empty()) return hash_name(name, seed, mode);
  return seed == 0 ? 0 : murmur3(name, seed);
}

}  // namespace leveret::text
