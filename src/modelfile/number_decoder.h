/// The numbers of a section as floats, whatever they are stored as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/rows/log_code.h"
#include "store/layout.h"

namespace leveret::modelfile {

/// A section in rows: of its first dimension, or one number alone.
std::uint64_t rows_of(const store::StoredSection& section);
std::uint64_t numbers_of_row(const store::StoredSection& section);

/// Whether codes times this are finite, and so are sums of their products.
bool is_scale(float scale);

/// That of counts in every export.
const kernels::LogCode& count_code();

class NumberDecoder {
 public:
  /// Whether it knows the numbers of such a section: floats, codes of weights or codes of counts.
  static bool knows(store::Dtype dtype, const store::Declaration& declared);

  /// For a section whose numbers it knows. `scales`: with Coding::kFixedByRow those of all rows.
  explicit NumberDecoder(const store::StoredSection& section, std::vector<float> scales = {});

  std::uint64_t row_numbers() const { return row_numbers_; }
  std::uint64_t row_bytes() const { return row_bytes_; }
  /// The numbers of rows `first`, first + 1, … whose bytes these are; good until the next call, and
  /// as long as the bytes are.
  std::span<const float> decode(std::span<const std::byte> rows, std::uint64_t first);

 private:
  void decode_by_row(std::span<const std::byte> rows, std::uint64_t row);

  store::Dtype dtype_;
  store::Coding coding_;
  float scale_;
  std::uint64_t row_numbers_, row_bytes_;
  std::vector<float> scales_;
  std::vector<float> numbers_;
};

}  // namespace leveret::modelfile
