/// The two steps in which the parser of VW text spends most of its time.
///
/// As the others, every instruction set fills the same table, and `reference` is the oracle: here
/// results are equal bit for bit. Nothing allocates or throws, and no byte beyond what is said to be
/// given is read, whatever the text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leveret::kernels {

struct TextKernels {
  /// Writes where the delimiters of VW text (space, tab, newline, `|` and `:`) stand: base + i for
  /// byte i of the text, and returns the end of what it wrote. Up to kSpare places behind may be
  /// written, too.
  std::uint32_t* (*delimiters)(const char* text, std::size_t size, std::uint32_t base,
                               std::uint32_t* out);
  static constexpr std::size_t kSpare = 16;

  /// The namespaces `|n name |` that follow each other from the first delimiter on: a name of one
  /// letter, one feature of 1 to 8 bytes without a value, single spaces, and another namespace
  /// behind. Returns how many there are, kNames at most, and writes the letter and the feature's
  /// hash of each; it stops before the first that is anything else, and near the end of the text,
  /// where fewer than 8 bytes are left from the feature on, or fewer than 4 behind it.
  ///
  /// `delimiters` are positions of the delimiters in `text`, all of them, `count` in a row, each
  /// below `size`. The hash is murmur3_x86_32 of the name; the seed is that of the letter. With
  /// `numbers`, names of digits alone are that number plus the seed, and it also stops before a name
  /// that begins or ends with a byte up to 0x20. kNames places of both outputs may be written.
  std::size_t (*short_names)(const char* text, std::uint32_t size, const std::uint32_t* delimiters,
                             std::size_t count, const std::uint32_t* seed_of_letter, bool numbers,
                             unsigned char* letters, std::uint32_t* hashes);
  static constexpr std::size_t kNames = 64;
};

}  // namespace leveret::kernels
