/// Rules for what sections say of each other: the same for who writes and who reads a file.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/section.h"

namespace leveret::store {

/// The numbers of sections by name.
using SectionNumbers = std::unordered_map<std::string_view, std::size_t>;

/// The fault in what a section says of its own numbers; null: there is none.
inline const char* coding_fault(Dtype dtype, const Declaration& declared) {
  if (role_name(declared.role) == "unknown") return "it has no role that is known";
  if (coding_name(declared.coding) == "unknown") return "its coding is not known";
  if (!std::isfinite(declared.scale) || declared.scale <= 0) return "its scale is no scale";
  const bool has_scale = declared.coding == Coding::kFixed || declared.coding == Coding::kLog;
  if (!has_scale && declared.scale != 1) return "it has a scale, but no coding that needs one";
  const bool is_float = dtype == Dtype::kF32 || dtype == Dtype::kF64 || dtype == Dtype::kBf16;
  if (declared.coding != Coding::kPlain && is_float) return "its coding is one of whole numbers";
  return nullptr;
}

/// The fault in what section `number` says of others; null: there is none.
template <class Section>
const char* relation_fault(const std::vector<Section>& sections, std::size_t number,
                           const SectionNumbers& numbers) {
  const Section& section = sections[number];
  const Declaration& declared = section.declared;
  if (declared.keys == 0 && declared.last_keys) return "it has no keys";
  if (declared.keys > sections.size()) return "its keys are not there";
  if (declared.keys > 0) {
    const Section& keys = sections[declared.keys - 1];
    if (keys.declared.keys != declared.keys || keys.dtype != Dtype::kU32 ||
        keys.shape.size() != 1 || keys.declared.role != Role::kIndex) {
      return "its keys are none";
    }
    if (section.shape.empty() || section.shape[0] > keys.shape[0])
      return "it has more rows than keys";
  }
  if (declared.coding != Coding::kFixedByRow) return nullptr;
  const auto found = numbers.find(section.name + ".scales");
  if (found == numbers.end() || section.shape.empty()) return "its scales are not there";
  const Section& scales = sections[found->second];
  if (scales.dtype != Dtype::kF32 || scales.shape.size() != 1 ||
      scales.shape[0] != section.shape[0]) {
    return "its scales are not one for each row";
  }
  return nullptr;
}

}  // namespace leveret::store
