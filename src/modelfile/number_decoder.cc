#include "modelfile/number_decoder.h"

#include <cmath>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/rows/codec.h"
#include "modelfile/section_names.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;

void decode_counts(std::span<const std::byte> codes, std::vector<float>& to) {
  to.resize(codes.size() / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::byte* const at = codes.data() + i * sizeof(std::uint16_t);
    to[i] = count_code().decode(kernels::load_unaligned<std::uint16_t>(at));
  }
}

}  // namespace

std::uint64_t rows_of(const store::StoredSection& section) {
  return section.shape.empty() ? 1 : section.shape[0];
}

std::uint64_t numbers_of_row(const store::StoredSection& section) {
  std::uint64_t numbers = 1;
  for (std::size_t d = 1; d < section.shape.size(); ++d) numbers *= section.shape[d];
  return numbers;
}

bool is_scale(float scale) { return std::fabs(scale) <= 0x1p30f; }

const kernels::LogCode& count_code() {
  static const kernels::LogCode code;
  return code;
}

bool NumberDecoder::knows(Dtype dtype, const store::Declaration& declared) {
  switch (declared.coding) {
    case Coding::kPlain:
      return dtype == Dtype::kF32;
    case Coding::kFixed:
      return dtype == Dtype::kI16 || dtype == Dtype::kI12 || dtype == Dtype::kI8 ||
             dtype == Dtype::kI4;
    case Coding::kLog:
      return dtype == Dtype::kU16 && declared.scale == count_code().unit();
    case Coding::kFixedByRow:
      return dtype == Dtype::kI8 || dtype == Dtype::kI4;
  }
  return false;
}

NumberDecoder::NumberDecoder(const store::StoredSection& section, std::vector<float> scales)
    : dtype_(section.dtype),
      coding_(section.declared.coding),
      scale_(section.declared.scale),
      row_numbers_(numbers_of_row(section)),
      row_bytes_(row_numbers_ * store::dtype_bits(section.dtype) / 8),
      scales_(std::move(scales)) {}

std::span<const float> NumberDecoder::decode(std::span<const std::byte> rows, std::uint64_t first) {
  if (rows.empty()) return {};
  switch (coding_) {
    case Coding::kPlain:
      return {reinterpret_cast<const float*>(rows.data()), rows.size() / sizeof(float)};
    case Coding::kLog:
      decode_counts(rows, numbers_);
      break;
    case Coding::kFixedByRow:
      decode_by_row(rows, first);
      break;
    case Coding::kFixed: {
      const auto codec = fixed_codec(dtype_);
      numbers_.resize(rows.size() * 8 / codec.bits);
      kernels::active().decode(codec, rows.data(), numbers_.size(), numbers_.data());
      for (float& x : numbers_) x *= scale_;
    }
  }
  return numbers_;
}

void NumberDecoder::decode_by_row(std::span<const std::byte> rows, std::uint64_t row) {
  const kernels::Codec codec = kernels::Codec::scaled(dtype_ == Dtype::kI8 ? 8 : 4);
  numbers_.resize(rows.size() / row_bytes_ * row_numbers_);
  float* to = numbers_.data();
  for (std::size_t at = 0; at < rows.size(); at += row_bytes_, ++row) {
    for (std::uint64_t i = 0; i < row_numbers_; ++i) {
      *to++ = scales_[row] * static_cast<float>(kernels::code_at(codec, rows.data() + at, i));
    }
  }
}

}  // namespace leveret::modelfile
