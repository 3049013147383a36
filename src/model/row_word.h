/// What a FieldTable knows of a key, in one word of the key's linear cell.
///
/// In a growing model with one head the last word of a linear slot is free, and a feature of a
/// field mostly has a linear cell, which every example looks up anyway. There the word says how
/// often the field has seen the key, or which row it has: no place in the field's index, and no
/// cache miss for it.
#pragma once

#include <cstdint>

namespace leveret::model {

/// From the highest bit: 1 = a row; 7 bits: field + 1; 24 bits: number of the row, or of sights. 0
/// says nothing yet. As a float it is always finite.
class RowWord {
 public:
  /// Fields from here on have none.
  static constexpr std::uint32_t kFields = 126;
  /// Rows from here on are in the index. Below what 24 bits hold by more than threads may make side
  /// by side.
  static constexpr std::uint32_t kRows = (1u << 24) - (1u << 16);

  // Values as in the index of a FieldTable: kRowBit | row, kBusy, kRefused, or a count.
  static constexpr std::uint32_t kRowBit = 0x80000000u;
  static constexpr std::uint32_t kBusy = 0x7fffffffu;
  static constexpr std::uint32_t kRefused = 0x7ffffffeu;

  /// The upper byte of words that name rows of `field`; of no word where that has none.
  static std::uint32_t row_tag(std::uint32_t field) {
    return field < kFields ? 0x80u | (field + 1) : 0x100u;
  }
  static std::uint32_t tag(std::uint32_t word) { return word >> 24; }
  static std::uint32_t row(std::uint32_t word) { return word & kNumber; }

  /// Neither row nor count is as large as the two special values. Those keep their lower bits.
  static std::uint32_t make(std::uint32_t field, std::uint32_t value) {
    return (value & kRowBit) | (field + 1) << 24 | (value & kNumber);
  }
  /// Of a word that is not 0.
  static std::uint32_t field(std::uint32_t word) { return (word >> 24 & 0x7f) - 1; }
  static std::uint32_t value(std::uint32_t word) {
    const std::uint32_t number = word & kNumber;
    if ((word & kRowBit) != 0) return kRowBit | number;
    return number >= (kRefused & kNumber) ? number | (kRefused & ~kNumber) : number;
  }

 private:
  static constexpr std::uint32_t kNumber = 0x00ffffffu;
};

}  // namespace leveret::model
