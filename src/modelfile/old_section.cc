#include "modelfile/old_section.h"

#include "modelfile/row_coder.h"
#include "modelfile/section_numbers.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;
using What = SectionPlan::What;

/// Whether codes of `old` stand for the same numbers as those that are to be made.
bool same_codes(const store::StoredSection& old, const SectionPlan& plan) {
  const store::Declaration& declared = old.declared;
  switch (plan.what) {
    case What::kFloats:
    case What::kFloatCounts:
      return old.dtype == Dtype::kF32 && declared.coding == Coding::kPlain;
    case What::kFixed:
      return old.dtype == plan.dtype && declared.coding == Coding::kFixed &&
             declared.scale == plan.unit;
    case What::kCounts:
      return declared.coding == Coding::kLog && declared.scale == count_code().unit();
    case What::kByRow:
      return old.dtype == plan.dtype && declared.coding == Coding::kFixedByRow;
    default:
      return false;
  }
}

}  // namespace

OldSection::OldSection(const store::ModelFile* previous, const store::StoredSection& section,
                       const SectionPlan& plan) {
  const store::StoredSection* const old =
      previous != nullptr ? previous->find(section.name) : nullptr;
  if (old == nullptr || old->shape.size() != section.shape.size() || !same_codes(*old, plan)) {
    return;
  }
  section_ = old;
  rows_ = rows_of(*old);
  row_numbers_ = numbers_of_row(*old);
  row_bytes_ = rows_ > 0 ? old->bytes / rows_ : 0;
  bytes_ = previous->read(*old);
  scales_ = read_scales(*previous, *old);
  codes_.resize(old->dtype == Dtype::kF32 ? 0 : row_numbers_);
}

std::span<const std::int32_t> OldSection::codes(std::uint64_t row) {
  load_codes(section_->dtype, bytes_.data() + row * row_bytes_, codes_);
  return codes_;
}

std::span<const float> OldSection::floats(std::uint64_t row) const {
  return {reinterpret_cast<const float*>(bytes_.data() + row * row_bytes_), row_numbers_};
}

}  // namespace leveret::modelfile
