#include "block/field_split.h"

namespace leveret::block {
namespace {

using tape::Owner;

/// The pairs of some fields with each other, in the order of FfmBlock.
void add_triangle(const tape::Join& join, std::size_t part,
                  const std::vector<std::uint32_t>& fields, std::vector<std::uint32_t>& to) {
  for (std::size_t g = 0; g < fields.size(); ++g) {
    for (std::size_t f = 0; f <= g; ++f) {
      to.push_back(join.column(part, Owner::pair(fields[f], fields[g])));
    }
  }
}

}  // namespace

std::vector<std::uint32_t> FieldSplit::of_candidate(const tape::Join& join) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    switch (join.parts()[p].per) {
      case Owner::Kind::kPair:
        for (const std::uint32_t own : candidate) {
          for (const std::uint32_t other : context) {
            columns.push_back(join.column(p, Owner::pair(other, own)));
          }
        }
        add_triangle(join, p, candidate, columns);
        break;
      case Owner::Kind::kGroup:
        for (std::size_t i = 0; i < groups(); ++i) {
          columns.push_back(join.column(p, Owner::group(group(i))));
        }
        break;
      case Owner::Kind::kAll:
        for (std::uint32_t i = 0; i < join.columns(p); ++i) columns.push_back(join.begin(p) + i);
        break;
    }
  }
  return columns;
}

std::vector<std::uint32_t> FieldSplit::of_context(const tape::Join& join) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    const Owner::Kind per = join.parts()[p].per;
    if (per == Owner::Kind::kPair) add_triangle(join, p, context, columns);
    if (per != Owner::Kind::kGroup) continue;
    for (const std::uint32_t f : context) columns.push_back(join.column(p, Owner::group(f + 1)));
  }
  return columns;
}

}  // namespace leveret::block
