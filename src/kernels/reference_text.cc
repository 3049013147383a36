/// The plain oracle of the kernels of the text: one byte, one namespace at a time.
#include <algorithm>
#include <cstring>

#include "kernels/short_hash.h"
#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

std::uint32_t* delimiters(const char* text, std::size_t size, std::uint32_t base,
                          std::uint32_t* out) {
  for (std::size_t i = 0; i < size; ++i) {
    if (std::memchr(" \t\n|:", text[i], 5) != nullptr) {
      *out++ = base + static_cast<std::uint32_t>(i);
    }
  }
  return out;
}

/// murmur3_x86_32, a byte at a time.
std::uint32_t murmur3(const char* name, std::uint32_t length, std::uint32_t seed) {
  std::uint32_t h = seed, k = 0;
  for (std::uint32_t i = 0; i < length; ++i) {
    k |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])) << (8 * (i % 4));
    if (i % 4 != 3) continue;
    h = murmur_round(h, k);
    k = 0;
  }
  return murmur_finish(h ^ murmur_mix(k), length);
}

std::size_t short_names(const char* text, std::uint32_t size, const std::uint32_t* delimiters,
                        std::size_t count, const std::uint32_t* seed_of_letter, bool numbers,
                        unsigned char* letters, std::uint32_t* hashes) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  std::size_t names = 0;
  for (std::size_t i = 0; i + 4 <= count && names < TextKernels::kNames; i += 3, ++names) {
    const std::uint32_t bar = delimiters[i], begin = bar + 3, end = delimiters[i + 2];
    const bool spaced = delimiters[i + 1] == bar + 2 && delimiters[i + 3] == end + 1;
    if (!spaced || text[bar] != '|' || text[bar + 2] != ' ' || text[end] != ' ' ||
        text[end + 1] != '|') {
      break;
    }
    // Faster kernels read words from the name and from its end on; all stop at the same place.
    if (end <= begin || end - begin > 8 || begin + 8 > size || end + 4 > size) break;
    const char* const name = text + begin;
    const std::uint32_t length = end - begin;
    if (numbers && (is_blank(name[0]) || is_blank(name[length - 1]))) break;
    letters[names] = static_cast<unsigned char>(text[bar + 1]);
    const std::uint32_t seed = seed_of_letter[letters[names]];
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (numbers && std::all_of(name, name + length, is_digit)) {
      std::uint32_t number = 0;
      for (std::uint32_t c = 0; c < length; ++c) {
        number = number * 10 + static_cast<std::uint32_t>(name[c] - '0');
      }
      hashes[names] = number + seed;
    } else {
      hashes[names] = murmur3(name, length, seed);
    }
  }
  return names;
}

}  // namespace

constinit const TextKernels kReferenceText = {.delimiters = delimiters, .short_names = short_names};

}  // namespace leveret::kernels
