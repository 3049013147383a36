#include "modelfile/export/export_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "kernels/dispatch.h"
#include "modelfile/row_coder.h"
#include "modelfile/section_loader.h"
#include "modelfile/section_numbers.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;
using store::Role;
using store::StoredSection;
using What = SectionPlan::What;

/// Mixers' weights, a neuron's bias: not worth a code, and those of mixers have no range.
constexpr std::uint64_t kFewNumbers = 16;

std::uint64_t numbers_in(const StoredSection& section) {
  return rows_of(section) * numbers_of_row(section);
}

/// The text behind the last dot.
std::string_view last_name(std::string_view name) {
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0
}

bool is_count(const StoredSection& section) {
  const std::string_view name = last_name(section.name);
  return section.declared.role == Role::kStatistic && (name == "clicks" || name == "count");
}

/// "rows.0.weights" for those of every shard; the name of any other section.
std::string group_of(const StoredSection& section) {
  return is_rows(section) ? section.name.substr(section.name.find("rows.")) : section.name;
}

}  // namespace

bool is_rows(const StoredSection& section) {
  return section.shape.size() == 3 && section.name.find("rows.") != std::string::npos;
}

ExportPlan::ExportPlan(const store::ModelFile& model, const store::ModelFile* previous,
                       const ExportOptions& options)
    : model_(model),
      previous_(previous),
      bits_(options.bits),
      keeps_(previous != nullptr && options.rounding.tolerance > 0) {
  for (const StoredSection& section : model.sections()) {
    if (rows_of(section) > 0 && numbers_of_row(section) == 0) damaged("has rows of nothing");
    plans_.push_back(plan(section));
  }
  find_units();
}

SectionPlan ExportPlan::plan(const StoredSection& section) const {
  const store::Declaration& declared = section.declared;
  if (declared.role == Role::kState) return {What::kDrop};
  if (const StoredSection* const codes = codes_of(section)) {
    return {plan(*codes).what == What::kCopy ? What::kCopy : What::kDrop};
  }
  if (declared.role == Role::kIndex || section.shape.empty() ||
      !NumberDecoder::knows(section.dtype, declared)) {
    return {What::kCopy};
  }
  if (numbers_in(section) < kFewNumbers && !is_rows(section) && declared.keys == 0) {
    return {What::kCopy};
  }
  if (declared.role == Role::kParameter) return plan_weights(section);
  if (!is_count(section) || declared.coding != Coding::kPlain) return {What::kCopy};
  return bits_ == 32 ? SectionPlan{What::kFloatCounts} : SectionPlan{What::kCounts, Dtype::kU16};
}

/// The section that these are the scales of; nullptr when they are none.
const StoredSection* ExportPlan::codes_of(const StoredSection& section) const {
  if (last_name(section.name) != "scales") return nullptr;
  const StoredSection* const codes = model_.find(section.name.substr(0, section.name.rfind('.')));
  const bool found = codes != nullptr && codes->declared.coding == Coding::kFixedByRow;
  return found ? codes : nullptr;
}

/// A section that has no more bits than asked for keeps its codes: those of a model are exact.
SectionPlan ExportPlan::plan_weights(const StoredSection& section) const {
  const store::Declaration& declared = section.declared;
  const bool coded = declared.coding != Coding::kPlain;
  if (coded && store::dtype_bits(section.dtype) <= static_cast<std::uint64_t>(bits_)) {
    const bool by_row = declared.coding == Coding::kFixedByRow;
    if (!keeps_ || by_row) return {What::kCopy};
    return {What::kFixed, section.dtype, declared.scale, true};
  }
  if (bits_ == 32) return {What::kFloats};
  if (bits_ == 16 || section.shape.size() < 2) return {What::kFixed, Dtype::kI16};
  const bool even = section.shape.back() % 2 == 0;
  return {What::kByRow, bits_ == 4 && even ? Dtype::kI4 : Dtype::kI8};
}

/// A unit for all sections of a group.
void ExportPlan::find_units() {
  const auto needs_unit = [this](const SectionPlan& plan) {
    return !plan.has_unit && (plan.what == What::kFixed || (plan.what == What::kFloats && keeps_));
  };
  std::map<std::string, float> largest;
  for (std::size_t s = 0; s < plans_.size(); ++s) {
    if (!needs_unit(plans_[s])) continue;
    const StoredSection& section = model_.sections()[s];
    float& of_group = largest[group_of(section)];
    NumberDecoder decoder(section, read_scales(model_, section));
    for_each_rows(model_, section, [&](std::span<const std::byte> rows, std::uint64_t first) {
      const std::span<const float> numbers = decoder.decode(rows, first);
      of_group = std::max(of_group, kernels::active().largest(numbers.data(), numbers.size()));
    });
  }
  for (std::size_t s = 0; s < plans_.size(); ++s) {
    if (!needs_unit(plans_[s])) continue;
    const std::string group = group_of(model_.sections()[s]);
    plans_[s].unit = unit_of(group, plans_[s], largest[group]);
  }
}

/// That of the older export, while all numbers fit.
float ExportPlan::unit_of(const std::string& group, const SectionPlan& plan, float largest) const {
  const Dtype dtype = plan.what == What::kFixed ? plan.dtype : Dtype::kI16;
  const float unit = unit_for(largest, largest_code(dtype));
  if (previous_ == nullptr) return unit;
  for (const StoredSection& old : previous_->sections()) {
    if (old.dtype != dtype || old.declared.coding != Coding::kFixed || group_of(old) != group) {
      continue;
    }
    const bool power_of_two = unit_for(old.declared.scale, 1) == old.declared.scale;
    return power_of_two ? std::max(unit, old.declared.scale) : unit;
  }
  return unit;
}

}  // namespace leveret::modelfile
