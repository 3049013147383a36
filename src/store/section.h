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

/// Type of one element. The numbers are those of the file; see leveret-model(5).
enum class Dtype : std::uint8_t {
  kU8 = 1,
  kU32 = 2,
  kU64 = 3,
  kF32 = 4,
  kBf16 = 5,
  kU16 = 6,
  kI16 = 7,
  kI8 = 8,
  kI4 = 9,  ///< two in a byte, the low half first; the last dimension is even
  kF64 = 10,
  kI12 = 11,  ///< two in three bytes, the first in the low bits; the last dimension is even
};

/// Bits of one element; 0 when `dtype` is none of the above (it may come from a file).
std::uint64_t dtype_bits(Dtype dtype);
/// "f32", "u8", …; "unknown" when `dtype` is none of the above.
std::string_view dtype_name(Dtype dtype);

constexpr std::size_t kMaxRank = 6;
constexpr std::size_t kMaxNameBytes = 63;

/// The purpose of a section. Every learned number is one of the last three.
enum class Role : std::uint8_t {
  kIndex = 1,      ///< keys, and what else stands for structure
  kParameter = 2,  ///< predictions need it
  kState = 3,      ///< of the optimizer alone
  kStatistic = 4,  ///< was counted; predictions may read it
};

/// "index", "parameter", …; "unknown" when `role` is none of the above.
std::string_view role_name(Role role);

/// The meaning of the numbers of a section.
enum class Coding : std::uint8_t {
  kPlain = 0,       ///< themselves
  kFixed = 1,       ///< number * scale
  kLog = 2,         ///< expm1(number * scale)
  kFixedByRow = 3,  ///< number * scale of its row, in the section NAME.scales: f32 [rows]
};

/// "plain", "fixed", …; "unknown" when `coding` is none of the above.
std::string_view coding_name(Coding coding);

/// The facts that a section tells of itself beside type and shape: enough for readers that know no
/// model.
struct Declaration {
  Role role = Role::kParameter;
  /// A reader that does not know its name may go without it.
  bool optional = false;
  /// With `keys`: the rows are those of the last shape[0] keys, not of the first.
  bool last_keys = false;
  /// 0, or 1 + the number of the section (u32, one dimension) whose keys the rows, which are the
  /// first dimension, belong to. A section of keys names itself.
  std::uint32_t keys = 0;
  Coding coding = Coding::kPlain;
  float scale = 1;  ///< as `coding` says; else 1

  bool operator==(const Declaration&) const = default;
};

/// Gives the bytes of a section from the first to the last: each call fills the span.
using SectionReader = std::function<void(std::span<std::byte>)>;

/// A section and where its bytes are; it owns the name and the shape, not the bytes.
struct SectionView {
  std::string name;                  ///< 1 to kMaxNameBytes bytes, no control characters
  Dtype dtype;                       ///< of every element
  std::vector<std::uint64_t> shape;  ///< up to kMaxRank dimensions, the slowest first
  Declaration declared;
  const std::byte* data;  ///< `bytes` bytes; may be null when there are none
  std::uint64_t bytes;    ///< those of its array (array_bytes)
  /// Where the bytes do not lie in one piece: makes what gives them. `data` is null then. It is
  /// called once or twice, and gives the same bytes each time.
  std::function<SectionReader()> open = {};
};

/// Calls visit with the bytes of a section, block after block.
void for_each_block(const SectionView& section,
                    const std::function<void(std::span<const std::byte>)>& visit);

/// Bytes of an array; nothing when the product, taken from the left, leaves 64 bits, and for i4
/// whose last dimension is not even.
std::optional<std::uint64_t> array_bytes(Dtype dtype, std::span<const std::uint64_t> shape);

/// Whether a section may have this name.
bool valid_section_name(std::string_view name);

/// The section over an array of numbers that the caller keeps alive.
template <typename T>
SectionView make_section(std::string name, Dtype dtype, std::vector<std::uint64_t> shape,
                         Declaration declared, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(name), dtype, std::move(shape), declared, bytes.data(), bytes.size(), {}};
}

}  // namespace leveret::store
