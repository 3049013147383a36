/// The steps in which the parser of VW text spends most of its time.
///
/// As the others, every instruction set fills the same table, and `reference` is the oracle: here
/// results are equal bit for bit. Nothing allocates or throws, and no byte beyond what is said to be
/// given is read, whatever the text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leveret::kernels {

/// What the parser asks about some namespaces.
struct UsualNamespaces {
  static constexpr std::size_t kNames = 64;
  /// The bytes of the namespace's name, the first the lowest, zeros, and in the upper byte how many
  /// there are.
  std::uint64_t name[kNames];
  std::uint64_t feature[kNames];  ///< its bytes, the first the lowest, and any behind them
  std::uint32_t length[kNames];   ///< of the feature
};

struct TextKernels {
  /// Writes where the delimiters of VW text (space, tab, newline, `|` and `:`) stand: base + i for
  /// byte i of the text, and returns the end of what it wrote. Up to kSpare places behind may be
  /// written, too.
  std::uint32_t* (*delimiters)(const char* text, std::size_t size, std::uint32_t base,
                               std::uint32_t* out);
  static constexpr std::size_t kSpare = 16;

  /// Finds namespaces `|name feature |` that follow each other from the first delimiter on: a name
  /// of 1 to 7 bytes, one feature of 1 to 8 bytes without a value, single spaces, and another
  /// namespace behind. Returns how many there are, kNames at most; it stops before the first that
  /// is anything else, and near the end of the text, where fewer than 8 bytes are left from a
  /// feature on.
  ///
  /// `delimiters` are positions of the delimiters in `text`, all of them, `count` in a row, each
  /// below `size`. kNames places of what is written may be.
  std::size_t (*usual_namespaces)(const char* text, std::uint32_t size,
                                  const std::uint32_t* delimiters, std::size_t count,
                                  UsualNamespaces& found);

  /// hashes[i] is murmur3_x86_32 of feature i with seed seeds[i], for i < count <= kNames. With
  /// `numbers`, features of digits alone are that number plus the seed, and it stops before a
  /// feature that begins or ends with a byte up to 0x20. Returns how many it hashed; kNames places
  /// may be read and written.
  std::size_t (*hash_features)(const UsualNamespaces& found, std::size_t count,
                               const std::uint32_t* seeds, bool numbers, std::uint32_t* hashes);
};

}  // namespace leveret::kernels
