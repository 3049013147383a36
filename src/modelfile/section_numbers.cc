#include "modelfile/section_numbers.h"

#include <algorithm>
#include <stdexcept>

#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"

namespace leveret::modelfile {

std::vector<float> read_scales(const store::ModelFile& file, const store::StoredSection& section) {
  if (section.declared.coding != store::Coding::kFixedByRow) return {};
  std::vector<float> scales(rows_of(section));
  const store::StoredSection* const stored = file.find(scales_name(section.name));
  file.read(*stored, reinterpret_cast<std::byte*>(scales.data()));
  if (!std::ranges::all_of(scales, is_scale)) damaged("has an impossible scale");
  return scales;
}

void refuse_not_finite() {
  throw std::runtime_error(
      "has weights that are not finite (NaN or infinite), so no prediction is possible; go back to "
      "an older model");
}

}  // namespace leveret::modelfile
