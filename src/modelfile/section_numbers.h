/// Reads the numbers of a section of a file, some rows at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "modelfile/number_decoder.h"
#include "store/finite.h"
#include "store/model_file.h"

namespace leveret::modelfile {

/// With Coding::kFixedByRow the scales of its rows; else nothing.
std::vector<float> read_scales(const store::ModelFile& file, const store::StoredSection& section);

/// std::runtime_error: the file has numbers that are not finite.
[[noreturn]] void refuse_not_finite();

/// Calls visit(bytes of some rows, number of the first) for all rows of a section, whose rows are
/// not empty. Verifies it, and that its numbers are finite.
template <class Visit>
void for_each_rows(const store::ModelFile& file, const store::StoredSection& section, Visit visit) {
  constexpr std::uint64_t kBytesAtOnce = std::uint64_t{128} << 10;
  const std::uint64_t rows = rows_of(section);
  const std::uint64_t row_bytes = rows > 0 ? section.bytes / rows : 0;
  const std::uint64_t at_once =
      std::max<std::uint64_t>(1, kBytesAtOnce / std::max<std::uint64_t>(row_bytes, 1));
  store::ModelFile::Stream stream(file, section);
  for (std::uint64_t row = 0; row < rows; row += at_once) {
    const auto part = stream.next(std::min(at_once, rows - row) * row_bytes);
    if (store::count_non_finite(section.dtype, part) > 0) refuse_not_finite();
    visit(part, row);
  }
  stream.finish();
}

}  // namespace leveret::modelfile
