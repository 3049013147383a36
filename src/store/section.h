/// Named arrays of a file as the store sees them: bytes with a type and a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::store {

/// Type of one element. The numbers are those of the file; see leveret-model(5). The last four are
/// for exports and 16-bit training.
enum class Dtype : std::uint8_t {
  kU8 = 1,
  kU32 = 2,
  kU64 = 3,
  kF32 = 4,
  kBf16 = 5,
  kU16 = 6,
  kI16 = 7,
  kI8 = 8,
};

/// Bytes of one element; 0 when `dtype` is none of the above (it may come from a file).
std::uint64_t dtype_bytes(Dtype dtype);
/// "f32", "u8", …; "unknown" when `dtype` is none of the above.
std::string_view dtype_name(Dtype dtype);

constexpr std::size_t kMaxRank = 6;
constexpr std::size_t kMaxNameBytes = 167;

/// Gives the bytes of a section from the first to the last: each call fills the span.
using SectionReader = std::function<void(std::span<std::byte>)>;

/// A section and where its bytes are; it owns the name and the shape, not the bytes.
struct SectionView {
  std::string name;                  ///< 1 to kMaxNameBytes bytes, no control characters
  Dtype dtype;                       ///< of every element
  std::vector<std::uint64_t> shape;  ///< up to kMaxRank dimensions, the slowest first
  const std::byte* data;             ///< `bytes` bytes; may be null when there are none
  std::uint64_t bytes;               ///< product of the shape times dtype_bytes(dtype)
  /// Where the bytes do not lie in one piece: makes what gives them. `data` is null then. It is
  /// called twice, and gives the same bytes both times.
  std::function<SectionReader()> open = {};
};

/// Calls visit with the bytes of a section, block after block.
void for_each_block(const SectionView& section,
                    const std::function<void(std::span<const std::byte>)>& visit);

/// Bytes of an array; nothing when the product, taken from the left, leaves 64 bits.
std::optional<std::uint64_t> array_bytes(Dtype dtype, std::span<const std::uint64_t> shape);

/// Whether a section may have this name.
bool valid_section_name(std::string_view name);

/// The section over an array of numbers that the caller keeps alive.
template <typename T>
SectionView make_section(std::string name, Dtype dtype, std::vector<std::uint64_t> shape,
                         std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(name), dtype, std::move(shape), bytes.data(), bytes.size(), {}};
}

}  // namespace leveret::store
