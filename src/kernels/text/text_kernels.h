/// The steps in which the parser of VW text spends most of its time.
///
/// As the others, every instruction set fills the same table, and `reference` is the oracle: here
/// results are equal bit for bit. Nothing allocates or throws, and no byte beyond what is said to be
/// given is read, whatever the text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leveret::kernels {

/// One feature: its full 32-bit hash (tables mask or probe it) and its value.
struct Feature {
  std::uint32_t hash;
  float value;
};

struct TextKernels {
  /// Writes where the delimiters of VW text (space, tab, newline, `|` and `:`) stand: base + i for
  /// byte i of the text, and returns the end of what it wrote. Up to kSpare places behind may be
  /// written, too.
  std::uint32_t* (*delimiters)(const char* text, std::size_t size, std::uint32_t base,
                               std::uint32_t* out);
  static constexpr std::size_t kSpare = 16;

  /// Finds namespaces `|name feature |` that follow each other from the first delimiter on: a name
  /// of 1 to 7 bytes, one feature of 1 to 8 bytes without a value, which neither begins nor ends
  /// with a byte up to 0x20, single spaces, and another namespace or the end of the line behind.
  /// Returns how many there are, kNames at most; it stops behind the last of a line, before the
  /// first that is anything else, and near the end of the text, where fewer than 8 bytes are left
  /// from a feature on.
  ///
  /// `delimiters` are positions of the delimiters in `text`, all of them, `count` in a row, each
  /// below `size`. For each namespace it writes the bytes of the name, the first the lowest, zeros,
  /// and in the upper byte how many there are; those of the feature and any behind them; and how
  /// many are the feature's. kNames places of each may be written.
  std::size_t (*usual_namespaces)(const char* text, std::uint32_t size,
                                  const std::uint32_t* delimiters, std::size_t count,
                                  std::uint64_t* names, std::uint64_t* features,
                                  std::uint32_t* lengths);
  static constexpr std::size_t kNames = 64;

  /// out[i] has the value 1 and the hash of feature i, for i < count: murmur3_x86_32 of its bytes
  /// with seed seeds[i]. With `numbers`, features of digits alone are that number plus the seed.
  /// The features are those of usual_namespaces. Up to kSpare places behind may be read and
  /// written, too.
  void (*hash_features)(const std::uint64_t* features, const std::uint32_t* lengths,
                        const std::uint32_t* seeds, std::size_t count, bool numbers, Feature* out);
};

}  // namespace leveret::kernels
