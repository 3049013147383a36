// Plans of patches with more sections than any model has, as somebody may forge them.
#include "patch/patch_plan.h"

#include <catch2/catch.hpp>
#include <string>

namespace leveret::patch {
namespace {

/// Many key sections of a row each, every second one with another section of such rows. What looks
/// at all sections for each of them needs minutes.
store::Layout many_sections(std::uint32_t count, std::uint64_t checksum) {
  store::Layout layout = {};
  layout.sections.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    store::StoredSection section = {};
    section.name = "s" + std::to_string(i);
    section.dtype = store::Dtype::kU32;
    section.shape = {1};
    section.bytes = 4;
    section.offset = 4096 + std::uint64_t{4} * i;
    section.declared.keys = i % 3 == 2 ? i : i + 1;
    section.checksum = store::Checksum{checksum, checksum};
    layout.sections.push_back(std::move(section));
  }
  return layout;
}

TEST_CASE("the plan of a patch takes time by its sections, not by pairs of them") {
  constexpr std::uint32_t kSections = 300'000;
  const store::Layout before = many_sections(kSections, 1), now = many_sections(kSections, 2);
  const PatchPlan plan = make_plan(before, now);
  REQUIRE(plan.columns.size() == kSections);
  REQUIRE(plan.groups.size() == kSections - kSections / 3);
  CHECK(plan.columns[0].group == 0);
  CHECK(plan.columns[1].group == 1);
  CHECK(plan.columns[2].group == 1);
  CHECK(plan.columns[1].is_keys);
  CHECK_FALSE(plan.columns[2].is_keys);
  CHECK(plan.columns[kSections - 1].group == plan.groups.size() - 1);
}

}  // namespace
}  // namespace leveret::patch
