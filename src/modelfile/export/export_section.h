/// One section of an export: its rows, chosen and coded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "modelfile/export/export_plan.h"
#include "modelfile/kept_keys.h"
#include "modelfile/row_coder.h"
#include "store/model_file.h"

namespace leveret::modelfile {

/// As store::SectionView, with bytes of its own.
struct ExportedSection {
  std::string name;
  store::Dtype dtype;
  std::vector<std::uint64_t> shape;
  store::Declaration declared;
  std::vector<std::byte> bytes;
};

struct SectionSource {
  const store::ModelFile& model;
  const store::ModelFile* previous;  ///< null: there is none
  const store::StoredSection& section;
  const KeptKeys* keys;  ///< of its rows; null: it has none
};

/// The section, and behind it its scales where it has some.
std::vector<ExportedSection> export_section(const SectionSource& source, const SectionPlan& plan,
                                            const Rounding& rounding);

}  // namespace leveret::modelfile
