#include "table/row_layout.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "layouts.h"
#include "table/aligned.h"

namespace leveret::table {
namespace {

std::vector<RowLayout::Column> columns_of(const RowLayout& layout) {
  std::vector<RowLayout::Column> columns;
  for (std::size_t p = 0; p < layout.parts().size(); ++p) columns.push_back(layout.weights(p));
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
      columns.push_back(layout.state(p, s));
    }
  }
  return columns;
}

TEST_CASE("a row is the weights of all parts, then all states, each where its numbers may stand") {
  for (const std::uint32_t slots : {1u, 2u, 3u, 39u}) {
    for (const auto& [name, layout] : all_layouts(slots)) {
      INFO(name << ", " << slots << " slots");
      std::size_t end = 0, arrays = 0;
      for (const RowLayout::Column& column : columns_of(layout)) {
        REQUIRE(column.begin >= end);
        REQUIRE(column.begin % std::max<std::size_t>(column.codec.bytes(1), 1) == 0);
        REQUIRE(column.begin < end + 4);
        end = column.begin + column.bytes();
        if (++arrays == layout.parts().size()) CHECK(layout.weight_bytes() == end);
      }
      CHECK(layout.used_bytes() == end);
      CHECK_FALSE(layout.empty());
      const RowPart& part = layout.parts()[0];
      CHECK(layout.weights(0).count == slots * part.k);
      CHECK(layout.weights(0).codec == part.codec);
      CHECK(layout.weights(0).begin == 0);
      for (std::size_t s = 0; s < part.states.size(); ++s) {
        const RowState& state = part.states[s];
        CHECK(layout.state(0, s).codec == state.codec);
        const std::size_t counts[] = {slots * part.k, slots, 1};
        CHECK(layout.state(0, s).count == counts[static_cast<int>(state.per)]);
      }
    }
  }
}

TEST_CASE("a row takes half lines, no even number of lines, and no more than it must") {
  for (std::uint32_t slots = 1; slots < 200; ++slots) {
    for (const auto& [name, layout] : all_layouts(slots)) {
      INFO(name << ", " << slots << " slots");
      REQUIRE(layout.stride() >= layout.used_bytes());
      REQUIRE(layout.stride() < layout.used_bytes() + 64);
      const bool narrow = layout.parts()[0].codec.is_narrow();
      if (!narrow) REQUIRE(layout.stride() % 32 == 0);
      if (narrow) REQUIRE(layout.stride() < layout.used_bytes() + 8);
      REQUIRE(layout.stride() % 128 != 0);
      REQUIRE(layout.stride() <= odd_lines(layout.used_bytes()));
    }
  }
}

TEST_CASE("states that follow an odd number of 16-bit weights are aligned") {
  using Per = RowState::Per;
  const Codec i16 = Codec::fixed(16, 12);
  const RowLayout slices({part_of(3, 5, i16, {{Codec::bf16(), Per::kSlot, 0.5f}})});
  const RowLayout floats({part_of(3, 5, i16, {{Codec::f32(), Per::kWeight, 0.5f}})});
  CHECK(slices.state(0, 0).begin == 30);
  CHECK(slices.used_bytes() == 36);
  CHECK(floats.state(0, 0).begin == 32);
  CHECK(floats.used_bytes() == 92);
}

TEST_CASE("rows of 8 and 4 bits are a scale and the codes") {
  const RowLayout eight({part_of(3, 4, Codec::scaled(8))});
  CHECK(eight.weights(0).begin == 0);
  CHECK(eight.weights(0).bytes() == 4 + 12);
  CHECK(eight.used_bytes() == 16);
  const RowLayout four({part_of(3, 3, Codec::scaled(4)), part_of(1, 2, Codec::scaled(4))});
  CHECK(four.weights(0).bytes() == 4 + 5);
  CHECK(four.weights(1).begin == 12);
  CHECK(four.used_bytes() == 12 + 5);
}

TEST_CASE("a row for serving is the same without states") {
  for (const auto& [name, layout] : all_layouts(39)) {
    INFO(name);
    const RowLayout serving = layout.for_serving();
    REQUIRE(serving.parts().size() == layout.parts().size());
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      CHECK(serving.parts()[p].states.empty());
      CHECK(serving.weights(p).begin == layout.weights(p).begin);
      CHECK(serving.weights(p).count == layout.weights(p).count);
      CHECK(serving.weights(p).codec == layout.weights(p).codec);
    }
    CHECK(serving.weight_bytes() == layout.weight_bytes());
    CHECK(serving.used_bytes() == serving.weight_bytes());
    CHECK(serving.stride() >= serving.used_bytes());
    CHECK(serving.stride() % (2 * kLineBytes) != 0);
    CHECK(layout.without_gaps().stride() == layout.used_bytes());
    CHECK(layout.without_gaps().used_bytes() == layout.used_bytes());
  }
}

TEST_CASE("rows of few bits, and lonely vectors, lie close") {
  const auto stride_of = [](RowPart part) { return RowLayout({std::move(part)}).stride(); };
  const auto with_sums = [](std::uint32_t slots, std::uint32_t k, Codec codec) {
    RowPart part = part_of(slots, k, codec);
    part.states = {{Codec::bf16(), RowState::Per::kSlot, 1}};
    return part;
  };
  // Weights and accumulators of 39 fields: 312 + 78, 234 + 78, 156 + 78 and 78 + 78 bytes.
  CHECK(stride_of(with_sums(39, 4, Codec::fixed(16, 12))) == 416);
  CHECK(stride_of(with_sums(39, 4, Codec::fixed(12, 9))) == 312);
  CHECK(stride_of(with_sums(39, 4, Codec::fixed(8, 7))) == 234);
  CHECK(stride_of(with_sums(39, 4, Codec::fixed(4, 4))) == 156);
  RowPart vector = with_sums(1, 8, Codec::fixed(16, 12));
  vector.by_field = false;
  CHECK(stride_of(vector) == 18);
  vector.codec = Codec::fixed(12, 9);
  CHECK(stride_of(vector) == 14);
  vector.codec = Codec::fixed(4, 4);
  CHECK(stride_of(vector) == 6);
  vector.codec = Codec::f32();
  CHECK(stride_of(vector) == 36);
}

TEST_CASE("a slot is called by its number, or as the part says") {
  RowPart part = part_of(3, 2, Codec::f32());
  CHECK(part.slot_name(2) == 2);
  part.opposite = {1, 4, 7};
  CHECK(part.slot_name(0) == 1);
  CHECK(part.slot_name(2) == 7);
}

TEST_CASE("a row of nothing") {
  const RowLayout none;
  CHECK(none.empty());
  CHECK(none.used_bytes() == 0);
  CHECK(none.stride() == 0);
}

}  // namespace
}  // namespace leveret::table
