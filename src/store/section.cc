#include "store/section.h"

#include <algorithm>

namespace leveret::store {

std::uint64_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
    case Dtype::kI8:
      return 1;
    case Dtype::kBf16:
    case Dtype::kU16:
    case Dtype::kI16:
      return 2;
    case Dtype::kU32:
    case Dtype::kF32:
      return 4;
    case Dtype::kU64:
      return 8;
  }
  return 0;
}

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return "u8";
    case Dtype::kI8:
      return "i8";
    case Dtype::kBf16:
      return "bf16";
    case Dtype::kU16:
      return "u16";
    case Dtype::kI16:
      return "i16";
    case Dtype::kU32:
      return "u32";
    case Dtype::kF32:
      return "f32";
    case Dtype::kU64:
      return "u64";
  }
  return "unknown";
}

std::optional<std::uint64_t> array_bytes(Dtype dtype, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = dtype_bytes(dtype);
  for (const std::uint64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return bytes;
}

void for_each_block(const SectionView& section,
                    const std::function<void(std::span<const std::byte>)>& visit) {
  if (section.open == nullptr) return visit({section.data, section.bytes});
  // It stays in the second-level cache from where it is made to where it is used.
  std::vector<std::byte> block(std::min<std::uint64_t>(section.bytes, 256 << 10));
  const SectionReader read = section.open();
  for (std::uint64_t at = 0; at < section.bytes; at += block.size()) {
    const auto part =
        std::span(block).first(std::min<std::uint64_t>(block.size(), section.bytes - at));
    read(part);
    visit(part);
  }
}

bool valid_section_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::ranges::all_of(name, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

}  // namespace leveret::store
