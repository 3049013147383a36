/// The plain oracle of the kernels of the text: one byte, one namespace at a time.
#include <algorithm>
#include <cstring>

#include "kernels/tables.h"
#include "kernels/text/short_hash.h"

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

bool is_blank(char c) { return static_cast<unsigned char>(c) <= 0x20; }

std::size_t usual_namespaces(const char* text, std::uint32_t size, const std::uint32_t* delimiters,
                             std::size_t count, std::uint64_t* out_names,
                             std::uint64_t* out_features, std::uint32_t* out_lengths) {
  std::size_t names = 0;
  bool last = false;
  for (std::size_t i = 0; i + 3 <= count && names < TextKernels::kNames && !last; i += 3) {
    const std::uint32_t bar = delimiters[i], blank = delimiters[i + 1], end = delimiters[i + 2];
    if (text[bar] != '|' || text[blank] != ' ') break;
    const bool next =
        i + 3 < count && text[end] == ' ' && delimiters[i + 3] == end + 1 && text[end + 1] == '|';
    last = text[end] == '\n';
    if (!next && !last) break;
    const std::uint32_t name_length = blank - bar - 1, length = end - blank - 1;
    if (name_length < 1 || name_length > 7 || length < 1 || length > 8) break;
    if (is_blank(text[blank + 1]) || is_blank(text[end - 1])) break;
    // Faster kernels read words from names and features on; all stop alike.
    if (blank + 9 > size) break;
    out_names[names] = out_features[names] = 0;
    std::memcpy(&out_names[names], text + bar + 1, name_length);
    out_names[names] |= std::uint64_t{name_length} << 56;
    std::memcpy(&out_features[names], text + blank + 1, length);
    out_lengths[names] = length;
    ++names;
  }
  return names;
}

void hash_features(const std::uint64_t* features, const std::uint32_t* lengths,
                   const std::uint32_t* seeds, std::size_t count, bool numbers, Feature* out) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < count; ++i) {
    char name[8];
    std::memcpy(name, &features[i], sizeof name);
    const std::uint32_t length = lengths[i];
    std::uint32_t hash = 0;
    if (numbers && std::all_of(name, name + length, is_digit)) {
      for (std::uint32_t c = 0; c < length; ++c) {
        hash = hash * 10 + static_cast<std::uint32_t>(name[c] - '0');
      }
      hash += seeds[i];
    } else {
      hash = murmur3(name, length, seeds[i]);
    }
    out[i] = {hash, 1.0f};
  }
}

}  // namespace

constinit const TextKernels kReferenceText = {
    .delimiters = delimiters, .usual_namespaces = usual_namespaces, .hash_features = hash_features};

}  // namespace leveret::kernels
