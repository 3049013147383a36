/// The fate of each section of a model in an export: it follows from what sections say of
/// themselves, and a few names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "modelfile/export/export_model.h"
#include "store/model_file.h"

namespace leveret::modelfile {

struct SectionPlan {
  enum class What {
    kDrop,         ///< only the optimizer needs it, or it is written with another section
    kCopy,         ///< as it is, but for rows of features that are left out
    kFloats,       ///< weights that stay floats
    kFloatCounts,  ///< counts that do
    kFixed,        ///< codes times `unit`
    kCounts,       ///< codes of a kernels::LogCode
    kByRow,        ///< codes times a scale of each row
  };
  What what = What::kCopy;
  store::Dtype dtype = store::Dtype::kF32;  ///< of the codes
  float unit = 1;                           ///< kFixed, and kFloats: what a tolerance counts in
  bool has_unit = false;                    ///< that of the model's own codes
};

class ExportPlan {
 public:
  /// Reads the numbers whose largest it has to know. `previous`: an older export, whose units stay
  /// while they fit, or null. std::runtime_error where one of the numbers is not finite.
  ExportPlan(const store::ModelFile& model, const store::ModelFile* previous,
             const ExportOptions& options);

  const SectionPlan& operator[](std::size_t section) const { return plans_[section]; }

 private:
  SectionPlan plan(const store::StoredSection& section) const;
  SectionPlan plan_weights(const store::StoredSection& section) const;
  const store::StoredSection* codes_of(const store::StoredSection& section) const;
  void find_units();
  float unit_of(const std::string& group, const SectionPlan& plan, float largest) const;

  const store::ModelFile& model_;
  const store::ModelFile* previous_;
  int bits_;
  bool keeps_;  ///< codes of the older export may stay
  std::vector<SectionPlan> plans_;
};

/// Rows of a shard or its overflow row.
bool is_rows(const store::StoredSection& section);

}  // namespace leveret::modelfile
