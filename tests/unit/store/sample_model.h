/// A small model file for the tests: every role and coding, keys with rows for some of them, no
/// bytes, one element, more than what makes a section begin on a page.
#pragma once

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace leveret::store {

struct SampleModel {
  explicit SampleModel(std::uint32_t seed = 1)
      : bytes(5000), codes(70000), keys(7), counts(3), weights(6) {
    std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(seed));
    std::iota(codes.begin(), codes.end(), static_cast<std::int8_t>(seed));
    std::iota(keys.begin(), keys.end(), seed * 1000003u);
    std::iota(counts.begin(), counts.end(), std::uint64_t{seed} << 40);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(seed) + 0.25f * static_cast<float>(i);
    }
  }

  std::vector<SectionView> sections() const {
    using std::span;
    const auto of = [](Role role, std::uint32_t keys_of = 0) {
      Declaration declared;
      declared.role = role;
      declared.keys = keys_of;
      return declared;
    };
    Declaration rest = of(Role::kState, 1), fixed = of(Role::kParameter),
                by_row = of(Role::kParameter), log = of(Role::kStatistic, 1);
    rest.last_keys = true;
    fixed.optional = true;
    fixed.coding = Coding::kFixed;
    fixed.scale = 0.25f;
    by_row.coding = Coding::kFixedByRow;
    log.coding = Coding::kLog;
    log.scale = 0.125f;
    return {
        make_section("ffm.0.keys", Dtype::kU32, {7}, of(Role::kIndex, 1),
                     span<const std::uint32_t>(keys)),
        make_section("ffm.0.rows", Dtype::kF32, {3, 2}, of(Role::kParameter, 1),
                     span<const float>(weights)),
        make_section("ffm.0.counts", Dtype::kU8, {7}, log, span(bytes).first(7)),
        make_section("seen", Dtype::kU32, {4}, rest, span<const std::uint32_t>(keys).first(4)),
        make_section("nothing", Dtype::kF32, {0, 8}, of(Role::kState), span<const float>()),
        make_section("large", Dtype::kI8, {70000}, fixed, span<const std::int8_t>(codes)),
        make_section("f\xc3\xbcnf", Dtype::kU8, {5000}, of(Role::kIndex),
                     span<const std::uint8_t>(bytes)),
        make_section("counts", Dtype::kU64, {3}, of(Role::kStatistic),
                     span<const std::uint64_t>(counts)),
        make_section("bias", Dtype::kF32, {}, of(Role::kParameter),
                     span<const float>(weights).first(1)),
        make_section("half", Dtype::kBf16, {2, 1, 3}, of(Role::kState),
                     span<const float>(weights).first(3)),
        make_section("codes", Dtype::kI4, {3, 4}, by_row, span(bytes).first(6)),
        make_section("codes.scales", Dtype::kF32, {3}, of(Role::kParameter),
                     span<const float>(weights).first(3)),
        make_section("rate", Dtype::kF64, {2}, of(Role::kStatistic),
                     span<const std::uint64_t>(counts).first(2)),
    };
  }

  void save(const std::string& path) const {
    write_model_file(path, Kind::kModel, kHeader, sections());
  }

  static constexpr std::string_view kHeader = R"({"model":"sample","fields":["a","b"]})";
  std::vector<std::uint8_t> bytes;
  std::vector<std::int8_t> codes;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> counts;
  std::vector<float> weights;
};

}  // namespace leveret::store
