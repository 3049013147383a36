#include "tape/field_split.h"

namespace leveret::tape {
namespace {

/// The pairs of some fields with each other, in the order of ffm::pair_index.
void add_triangle(const Join& join, std::size_t part, const std::vector<std::uint32_t>& fields,
                  std::vector<std::uint32_t>& to) {
  for (std::size_t g = 0; g < fields.size(); ++g) {
    for (std::size_t f = 0; f <= g; ++f) {
      to.push_back(join.column(part, Owner::pair(fields[f], fields[g])));
    }
  }
}

void add_groups(const Join& join, std::size_t part, const std::vector<std::uint32_t>& fields,
                std::vector<std::uint32_t>& to) {
  for (const std::uint32_t f : fields) to.push_back(join.column(part, Owner::feature_group(f + 1)));
}

}  // namespace

std::vector<std::uint32_t> FieldSplit::of_candidate(const Join& join) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    const Owner::Kind per = join.parts()[p].per;
    if (per == Owner::Kind::kFeatureGroup) add_groups(join, p, candidate, columns);
    if (per != Owner::Kind::kPair) continue;
    for (const std::uint32_t own : candidate) {
      for (const std::uint32_t other : context) {
        columns.push_back(join.column(p, Owner::pair(other, own)));
      }
    }
    add_triangle(join, p, candidate, columns);
  }
  return columns;
}

std::vector<std::uint32_t> FieldSplit::of_context(const Join& join) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    const Owner::Kind per = join.parts()[p].per;
    if (per == Owner::Kind::kPair) add_triangle(join, p, context, columns);
    if (per == Owner::Kind::kFeatureGroup) add_groups(join, p, context, columns);
  }
  return columns;
}

}  // namespace leveret::tape
