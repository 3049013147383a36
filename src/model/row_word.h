/// What a FieldTable knows of a key, in one word of the key's linear cell.
///
/// In a growing model the last word of a linear slot is free, or says how large the feature's
/// values are, which are 1 for nearly all. A feature of a field mostly has a linear cell, which
/// every example looks up anyway. So the word says how often the field has seen the key, or which
/// row it has: no place in the field's index, and no cache miss for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace leveret::model {

/// From the highest bit: 1; 1 = a row; 1 = values of 1 have been learned from (mixed heads only); 7
/// bits: field + 1; 22 bits: number of the row, or of sights. As a float it is negative and finite. A
/// word that is not negative says nothing: it is 0 at first, else it may be another's number.
class RowWord {
 public:
  /// Fields from here on have none.
  static constexpr std::uint32_t kFields = 125;
  /// Rows from here on are in the index. Below what 22 bits hold by more than threads may make side
  /// by side.
  static constexpr std::uint32_t kRows = (1u << 22) - (1u << 16);

  // Values as in the index of a FieldTable: kRowBit | row, kBusy, kRefused, or a count.
  static constexpr std::uint32_t kRowBit = 0x80000000u;
  static constexpr std::uint32_t kBusy = 0x7fffffffu;
  static constexpr std::uint32_t kRefused = 0x7ffffffeu;

  /// Of a word that says nothing, and never will: no other value of the feature has been learned
  /// from than 1, or none yet. As floats 1, and nearly 0.
  static constexpr std::uint32_t kOnlyOnes = 0x3f800000u, kNothingYet = 1;

  static bool says(std::uint32_t word) { return (word & kMark) != 0; }
  /// Neither row nor count is as large as the two special values. Those keep their lower bits.
  /// `before`: the word until now, 0 or one that says something.
  static std::uint32_t make(std::uint32_t field, std::uint32_t value, std::uint32_t before = 0) {
    return kMark | ((value & kRowBit) != 0 ? kHasRow : 0) | (before & kHasOnes) |
           (field + 1) << kFieldAt | (value & kNumber);
  }

  // Of a word that says something.
  static bool has_row(std::uint32_t word) { return (word & kHasRow) != 0; }
  static bool has_ones(std::uint32_t word) { return (word & kHasOnes) != 0; }
  static std::uint32_t with_ones(std::uint32_t word) { return word | kHasOnes; }
  static std::uint32_t field(std::uint32_t word) { return (word >> kFieldAt & 0x7f) - 1; }
  /// Also of 0: 0.
  static std::uint32_t value(std::uint32_t word) {
    const std::uint32_t number = word & kNumber;
    if (has_row(word)) return kRowBit | number;
    return number >= (kRefused & kNumber) ? number | (kRefused & ~kNumber) : number;
  }
  static std::uint32_t row(std::uint32_t word) { return word & kNumber; }

  /// What words that name rows of `field` have in common; no word where that has none.
  static std::uint32_t row_tag(std::uint32_t field) {
    return field < kFields ? make(field, kRowBit) : kNumber;
  }
  static std::uint32_t tag(std::uint32_t word) { return word & ~(kNumber | kHasOnes); }

  /// One that other threads may change. (atomic_ref takes no const before C++26.)
  static std::uint32_t load(const std::uint32_t* at) {
    return std::atomic_ref(*const_cast<std::uint32_t*>(at)).load(std::memory_order_acquire);
  }
  static bool change(std::uint32_t* at, std::uint32_t& from, std::uint32_t to) {
    return std::atomic_ref(*at).compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

 private:
  static constexpr std::uint32_t kMark = 0x80000000u;
  static constexpr std::uint32_t kHasRow = 0x40000000u;
  static constexpr std::uint32_t kHasOnes = 0x20000000u;
  static constexpr std::uint32_t kNumber = 0x003fffffu;
  static constexpr unsigned kFieldAt = 22;
};

}  // namespace leveret::model
