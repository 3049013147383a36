/// A small model file for the tests: every type, no bytes, one element, more than a page.
#pragma once

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace leveret::store {

struct SampleModel {
  explicit SampleModel(std::uint32_t seed = 1) : bytes(5000), keys(7), counts(3), weights(6) {
    std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(seed));
    std::iota(keys.begin(), keys.end(), seed * 1000003u);
    std::iota(counts.begin(), counts.end(), std::uint64_t{seed} << 40);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(seed) + 0.25f * static_cast<float>(i);
    }
  }

  std::vector<SectionView> sections() const {
    using std::span;
    return {
        make_section("ffm.0.keys", Dtype::kU32, {7}, span<const std::uint32_t>(keys)),
        make_section("ffm.0.rows", Dtype::kF32, {3, 2}, span<const float>(weights)),
        make_section("nothing", Dtype::kF32, {0, 8}, span<const float>()),
        make_section("f\xc3\xbcnf", Dtype::kU8, {5000}, span<const std::uint8_t>(bytes)),
        make_section("counts", Dtype::kU64, {3}, span<const std::uint64_t>(counts)),
        make_section("bias", Dtype::kF32, {}, span<const float>(weights).first(1)),
        make_section("half", Dtype::kBf16, {2, 1, 3}, span<const float>(weights).first(3)),
    };
  }

  void save(const std::string& path) const {
    write_model_file(path, Kind::kModel, kHeader, sections());
  }

  static constexpr std::string_view kHeader = R"({"model":"sample","fields":["a","b"]})";
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> counts;
  std::vector<float> weights;
};

}  // namespace leveret::store
