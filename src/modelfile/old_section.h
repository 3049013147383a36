/// A section of an older export, of which codes may stay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "modelfile/export/export_plan.h"
#include "store/model_file.h"

namespace leveret::modelfile {

class OldSection {
 public:
  /// None.
  OldSection() = default;
  /// The section that goes by the same name in `previous`, or none where it has other codes.
  OldSection(const store::ModelFile* previous, const store::StoredSection& section,
             const SectionPlan& plan);

  bool exists() const { return section_ != nullptr; }
  bool has_row(std::uint64_t row) const { return row < rows_; }
  // The numbers of a row that it has; good until the next call. What stands at the end of longer
  // rows is new.
  std::span<const std::int32_t> codes(std::uint64_t row);
  std::span<const float> floats(std::uint64_t row) const;
  float scale(std::uint64_t row) const { return scales_[row]; }

 private:
  const store::StoredSection* section_ = nullptr;
  std::uint64_t rows_ = 0, row_numbers_ = 0, row_bytes_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<float> scales_;
  std::vector<std::int32_t> codes_;
};

}  // namespace leveret::modelfile
