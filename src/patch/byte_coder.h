/// Small numbers in the clear parts of records: seven bits a byte, the lowest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "patch/range_coder.h"

namespace leveret::patch {

inline void put_number(std::vector<std::byte>& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

/// Reads them one after another. Throws CorruptCode where they end too early or are no numbers.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      const std::uint64_t bits = (byte & 0x7f) << shift;
      if (bits >> shift != (byte & 0x7f)) break;
      value |= bits;
      if (byte < 0x80) return value;
    }
    throw CorruptCode();
  }
  /// The bytes behind the numbers.
  std::span<const std::byte> rest() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace leveret::patch
