#include "tape/partition.h"

namespace leveret::tape {
namespace {

/// Calls add(owner) for the pairs of some fields with each other, in the order of ffm::pair_index.
template <class Add>
void add_triangle(const std::vector<std::uint32_t>& fields, Add add) {
  for (std::size_t g = 0; g < fields.size(); ++g) {
    for (std::size_t f = 0; f <= g; ++f) add(Owner::pair(fields[f], fields[g]));
  }
}

template <class Add>
void add_pairs(const Partition& partition, Add add) {
  switch (partition.of) {
    case Partition::Of::kEveryone:
      return;
    case Partition::Of::kContext:
      return add_triangle(partition.split->context, add);
    case Partition::Of::kCandidate:
      for (const std::uint32_t own : partition.split->candidate) {
        for (const std::uint32_t other : partition.split->context) add(Owner::pair(other, own));
      }
      return add_triangle(partition.split->candidate, add);
    case Partition::Of::kShard:
      break;
  }
  for (std::uint32_t g = 0; g < partition.opposite.size(); ++g) {
    for (const std::uint32_t f : partition.opposite[g]) {
      if (f <= g) add(Owner::pair(f, g));
    }
  }
}

}  // namespace

std::vector<std::uint32_t> Partition::columns_of(const Join& join, bool normalised) const {
  assert(of != Of::kEveryone);
  std::vector<std::uint32_t> columns;
  for (std::size_t p = 0; p < join.parts().size(); ++p) {
    if (join.parts()[p].normalised != normalised) continue;
    const auto add = [&](const Owner& owner) {
      const std::uint32_t first = join.column(p, owner);
      for (std::uint32_t i = 0; i < join.parts()[p].width; ++i) columns.push_back(first + i);
    };
    switch (join.parts()[p].per) {
      case Owner::Kind::kAll:
        break;
      case Owner::Kind::kFeatureGroup:
        for (const std::uint32_t g : feature_groups) add(Owner::feature_group(g));
        break;
      case Owner::Kind::kField:
        for (std::uint32_t f = 0; f < homes.size(); ++f) {
          if (homes[f]) add(Owner::field(f));
        }
        break;
      case Owner::Kind::kPair:
        add_pairs(*this, add);
        break;
    }
  }
  return columns;
}

}  // namespace leveret::tape
