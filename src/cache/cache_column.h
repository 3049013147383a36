/// One column of 32-bit values in a cache block: the hashes, or values, of one namespace.
///
/// Feature values follow a Zipf law: a few are most of the column, and the many rare ones are as
/// good as random. So the (at most 255) most frequent get a one-byte code, which zstd then packs
/// by its frequency, and the rest stand as they are:
///
///     u8 kind    0 raw: count × u32
///                1 constant: u32
///                2 coded: u32 n ≤ 255, n × u32 values, count × u8 codes, u32 m, m × u32 escaped
///
/// A code below n is the value of that number; 255 takes the next escaped value. Other codes there
/// are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/bytes.h"

namespace leveret::cache {

/// Not thread safe; keeps its tables between columns.
class ColumnEncoder {
 public:
  void encode(const std::vector<std::uint32_t>& values, std::string& to);

 private:
  struct Seen {
    std::uint32_t value;
    std::uint32_t count;
    std::uint32_t code;
  };

  void count_values(const std::vector<std::uint32_t>& values);
  void choose_codes();
  void put_coded(const std::vector<std::uint32_t>& values, std::string& to);

  std::vector<std::uint32_t> slots_;    ///< open addressing: 1 + index into seen_, or 0
  std::vector<Seen> seen_;              ///< in order of first appearance
  std::vector<std::uint32_t> seen_of_;  ///< index into seen_, parallel to the column
  std::vector<std::uint32_t> coded_;    ///< indices into seen_ of the coded values
};

/// A column where it lies, checked, and how far it is decoded.
class PackedColumn {
 public:
  PackedColumn() = default;
  /// Takes a column of `count` values off `from`, whose bytes must outlive it. Throws
  /// files::BytesReader::BadBytes.
  PackedColumn(files::BytesReader& from, std::size_t count);

  /// Decodes the next `count` values, of which there must be as many.
  void next(std::size_t count, std::uint32_t* out);
  /// Has the next `count` of them brought from memory.
  void prefetch(std::size_t count) const;

 private:
  enum Kind : std::uint8_t { kRaw, kConstant, kCoded };
  friend class ColumnEncoder;

  void next_coded(std::size_t count, std::uint32_t* out);

  Kind kind_ = kRaw;
  std::uint32_t coded_ = 0;               ///< kCoded: values that have a code
  const char* values_ = nullptr;          ///< u32 each: those, the constant, or what is left
  const unsigned char* codes_ = nullptr;  ///< kCoded: what is left
  const char* escaped_ = nullptr;         ///< u32 each: what is left
};

/// Takes a column of `count` values off `from` and decodes it to `out`. Throws
/// files::BytesReader::BadBytes.
inline void decode_column(files::BytesReader& from, std::size_t count, std::uint32_t* out) {
  PackedColumn(from, count).next(count, out);
}

}  // namespace leveret::cache
