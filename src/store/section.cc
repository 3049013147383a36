#include "store/section.h"

#include <algorithm>

namespace leveret::store {

std::uint64_t dtype_bits(Dtype dtype) {
  switch (dtype) {
    case Dtype::kI4:
      return 4;
    case Dtype::kI12:
      return 12;
    case Dtype::kU8:
    case Dtype::kI8:
      return 8;
    case Dtype::kBf16:
    case Dtype::kU16:
    case Dtype::kI16:
      return 16;
    case Dtype::kU32:
    case Dtype::kF32:
      return 32;
    case Dtype::kU64:
    case Dtype::kF64:
      return 64;
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
    case Dtype::kI4:
      return "i4";
    case Dtype::kI12:
      return "i12";
    case Dtype::kF64:
      return "f64";
  }
  return "unknown";
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kIndex:
      return "index";
    case Role::kParameter:
      return "parameter";
    case Role::kState:
      return "state";
    case Role::kStatistic:
      return "statistic";
  }
  return "unknown";
}

std::string_view coding_name(Coding coding) {
  switch (coding) {
    case Coding::kPlain:
      return "plain";
    case Coding::kFixed:
      return "fixed";
    case Coding::kLog:
      return "log";
    case Coding::kFixedByRow:
      return "fixed_by_row";
  }
  return "unknown";
}

std::optional<std::uint64_t> array_bytes(Dtype dtype, std::span<const std::uint64_t> shape) {
  const std::uint64_t bits = dtype_bits(dtype);
  const bool in_pairs = bits % 8 != 0;
  if (in_pairs && (shape.empty() || shape.back() % 2 != 0)) return std::nullopt;
  std::uint64_t bytes = in_pairs ? bits / 4 : bits / 8;  // of two elements, or of one
  for (const std::uint64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return in_pairs ? bytes / 2 : bytes;
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
