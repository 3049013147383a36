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

std::size_t usual_namespaces(const char* text, std::uint32_t size, const std::uint32_t* delimiters,
                             std::size_t count, UsualNamespaces& found) {
  std::size_t names = 0;
  for (std::size_t i = 0; i + 4 <= count && names < UsualNamespaces::kNames; i += 3, ++names) {
    const std::uint32_t bar = delimiters[i], blank = delimiters[i + 1], end = delimiters[i + 2];
    if (text[bar] != '|' || text[blank] != ' ' || text[end] != ' ' ||
        delimiters[i + 3] != end + 1 || text[end + 1] != '|') {
      break;
    }
    const std::uint32_t name_length = blank - bar - 1, length = end - blank - 1;
    if (name_length < 1 || name_length > 7 || length < 1 || length > 8) break;
    // Faster kernels read words from names and features on; all stop alike.
    if (blank + 9 > size) break;
    found.name[names] = found.feature[names] = 0;
    std::memcpy(&found.name[names], text + bar + 1, name_length);
    found.name[names] |= std::uint64_t{name_length} << 56;
    std::memcpy(&found.feature[names], text + blank + 1, length);
    found.length[names] = length;
  }
  return names;
}

std::size_t hash_features(const UsualNamespaces& found, std::size_t count,
                          const std::uint32_t* seeds, bool numbers, std::uint32_t* hashes) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < count; ++i) {
    char name[8];
    std::memcpy(name, &found.feature[i], sizeof name);
    const std::uint32_t length = found.length[i];
    if (numbers && (is_blank(name[0]) || is_blank(name[length - 1]))) return i;
    if (numbers && std::all_of(name, name + length, is_digit)) {
      std::uint32_t number = 0;
      for (std::uint32_t c = 0; c < length; ++c) {
        number = number * 10 + static_cast<std::uint32_t>(name[c] - '0');
      }
      hashes[i] = number + seeds[i];
    } else {
      hashes[i] = murmur3(name, length, seeds[i]);
    }
  }
  return count;
}

}  // namespace

constinit const TextKernels kReferenceText = {.delimiters = delimiters,
                                              .usual_namespaces = usual_namespaces,
                                              .hash_features = hash_features};

}  // namespace leveret::kernels
