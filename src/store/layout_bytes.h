/// Where the fields of a file lie; the tables of leveret-model(5) in C++. For the files that read
/// and write them, and for the tests that damage them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "store/section.h"

namespace leveret::store {

static_assert(std::endian::native == std::endian::little,
              "files are mapped as they are, and they are little-endian");

constexpr std::array<unsigned char, 8> kMagic = {0x89, 'L', 'V', 'T', '\r', '\n', 0x1a, '\n'};
/// The bytes that a patch begins with instead (leveret-patch(5)).
constexpr std::array<unsigned char, 8> kPatchMagic = {0x89, 'L', 'V', 'P', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kKnownFlags = 0;

/// Offsets in the preamble.
namespace preamble {
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kChecked = 24;  ///< the checksum covers from here to the end of the table
constexpr std::size_t kVersion = 24;
constexpr std::size_t kKind = 28;
constexpr std::size_t kFlags = 32;
constexpr std::size_t kFileBytes = 40;
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kSections = 56;
constexpr std::size_t kReserved = 60;
constexpr std::size_t kBytes = 64;
}  // namespace preamble

/// Offsets in an entry of the table.
namespace entry {
constexpr std::size_t kOffset = 0;
constexpr std::size_t kLength = 8;
constexpr std::size_t kChecksum = 16;
constexpr std::size_t kDtype = 32;
constexpr std::size_t kRank = 33;
constexpr std::size_t kRole = 34;
constexpr std::size_t kFlags = 35;
constexpr std::size_t kKeys = 36;
constexpr std::size_t kShape = 40;
constexpr std::size_t kScale = 88;
constexpr std::size_t kCoding = 92;
constexpr std::size_t kReserved = 93;
constexpr std::size_t kName = 96;
constexpr std::size_t kBytes = 160;
static_assert(kShape + 8 * kMaxRank == kScale);
static_assert(kName + kMaxNameBytes + 1 == kBytes);

/// Bits of the flags.
constexpr std::uint8_t kOptional = 1;
constexpr std::uint8_t kLastKeys = 2;
}  // namespace entry

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
  return value;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.subspan(offset, sizeof value).data(), &value, sizeof value);
}

}  // namespace leveret::store
