/// An adaptive range coder for bits (G. N. N. Martin 1979; the arithmetic is that of LZMA): each
/// bit costs what its model, learned from the bits before, makes it cost. What codes numbers with
/// it is written once for both directions: bit() and raw() take the value and give it back, and a
/// decoder gives what the encoder took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leveret::patch {

/// How likely it is that a bit is 1: a mean that forgets slowly (1/256 of what it was per bit).
class BitModel {
 public:
  static constexpr unsigned kPrecision = 15;
  /// The probability of a 1, times 2^kPrecision, and never so near to 0 or 1 that a wrong guess
  /// costs more than 10 bits.
  std::uint32_t of_one() const {
    constexpr std::uint32_t kLeast = 1u << (kPrecision - 10);
    const std::uint32_t p = of_one_ >> (16 - kPrecision);
    return p < kLeast ? kLeast : p > (1u << kPrecision) - kLeast ? (1u << kPrecision) - kLeast : p;
  }
  void learn(bool bit) {
    const std::int32_t error = (bit ? 65535 : 0) - static_cast<std::int32_t>(of_one_);
    of_one_ = static_cast<std::uint16_t>(of_one_ + ((error * kRates[seen_]) >> 16));
    if (seen_ + 1u < kRates.size()) ++seen_;
  }

 private:
  static constexpr std::array<std::int32_t, 256> kRates = [] {
    std::array<std::int32_t, 256> rates = {};
    // Less than half at first, so that error * rate fits 32 bits.
    for (int n = 0; n < 256; ++n) rates[static_cast<std::size_t>(n)] = 65536 * 2 / (2 * n + 5);
    return rates;
  }();

  std::uint16_t of_one_ = 1 << 15;
  std::uint16_t seen_ = 0;
};

class RangeEncoder {
 public:
  static constexpr bool kDecodes = false;

  bool bit(BitModel& model, bool value) {
    const std::uint32_t one = (range_ >> BitModel::kPrecision) * model.of_one();
    if (value) {
      range_ = one;
    } else {
      low_ += one;
      range_ -= one;
    }
    model.learn(value);
    normalize();
    return value;
  }
  /// The lowest `count` bits of a value, 16 at most, as they are.
  std::uint32_t raw(unsigned count, std::uint32_t value) {
    range_ >>= count;
    low_ += std::uint64_t{range_} * value;
    normalize();
    return value;
  }
  /// Bytes that are sure to be written so far.
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> finish();

 private:
  void normalize() {
    while (range_ < (1u << 24)) {
      range_ <<= 8;
      shift();
    }
  }
  void shift();

  std::uint64_t low_ = 0;
  std::uint32_t range_ = ~0u;
  std::uint8_t held_ = 0;      ///< the byte that a carry may still change,
  std::uint64_t pending_ = 0;  ///< and how many ff follow it
  bool begun_ = false;
  std::vector<std::byte> bytes_;
};

/// Throws CorruptCode where the bytes end too early. Memory outlives it.
struct CorruptCode {};

class RangeDecoder {
 public:
  static constexpr bool kDecodes = true;

  explicit RangeDecoder(std::span<const std::byte> bytes);

  bool bit(BitModel& model, bool = false) {
    const std::uint32_t one = (range_ >> BitModel::kPrecision) * model.of_one();
    const bool value = code_ < one;
    if (value) {
      range_ = one;
    } else {
      code_ -= one;
      range_ -= one;
    }
    model.learn(value);
    normalize();
    return value;
  }
  std::uint32_t raw(unsigned count, std::uint32_t = 0) {
    range_ >>= count;
    const std::uint32_t value = code_ / range_;
    if (value >> count != 0) throw CorruptCode();
    code_ -= range_ * value;
    normalize();
    return value;
  }
  /// Throws unless all bytes have been used.
  void finish() const {
    if (next_ != bytes_.size()) throw CorruptCode();
  }

 private:
  void normalize() {
    while (range_ < (1u << 24)) {
      range_ <<= 8;
      code_ = code_ << 8 | next();
    }
  }
  std::uint32_t next() {
    if (next_ == bytes_.size()) throw CorruptCode();
    return std::to_integer<std::uint32_t>(bytes_[next_++]);
  }

  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = ~0u;
};

}  // namespace leveret::patch
