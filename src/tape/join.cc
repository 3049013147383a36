#include "tape/join.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tape/tensors.h"

namespace leveret::tape {

std::uint32_t Join::owners(Owner::Kind kind, Extent extent) {
  switch (kind) {
    case Owner::Kind::kAll:
      return 1;
    case Owner::Kind::kFeatureGroup:
      return extent.feature_groups();
    case Owner::Kind::kField:
      return extent.fields;
    case Owner::Kind::kPair:
      return extent.pairs();
  }
  return 0;
}

std::uint32_t Join::number_of(const Owner& owner) {
  switch (owner.kind) {
    case Owner::Kind::kAll:
      return 0;
    case Owner::Kind::kFeatureGroup:
    case Owner::Kind::kField:
      return owner.a;
    case Owner::Kind::kPair:
      return Extent{owner.b}.pairs() + owner.a;
  }
  return 0;
}

Join::Join(std::vector<JoinPart> parts, Extent extent) : parts_(std::move(parts)) {
  for (const JoinPart& part : parts_) {
    begins_.push_back(begins_.back() + owners(part.per, extent) * part.width);
    if (part.normalised) normalised_ = begins_.back();
  }
}

JoinPlace Join::place(std::uint32_t column) const {
  std::size_t part = 0;
  while (column >= columns(part)) column -= columns(part++);
  return {part, column};
}

std::vector<std::uint32_t> Join::everyones(std::uint32_t shared) const {
  std::vector<std::uint32_t> names;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Owner::Kind per = parts_[p].per;
    if (per != Owner::Kind::kAll && per != Owner::Kind::kFeatureGroup) continue;
    const std::uint32_t count = (per == Owner::Kind::kAll ? 1 : shared) * parts_[p].width;
    for (std::uint32_t i = 0; i < count; ++i) names.push_back(begin(p) + i);
  }
  if (names.empty()) names.push_back(kNewColumn);
  return names;
}

std::uint32_t Join::before(Extent fewer, std::uint32_t column) const {
  const JoinPlace at = place(column);
  const Join old(parts_, fewer);
  return at.index < old.columns(at.part) ? old.begin(at.part) + at.index : kNewColumn;
}

JoinColumns::JoinColumns(const Join& join, std::vector<std::uint32_t> names, Pairs pairs)
    : names_(std::move(names)) {
  std::size_t last = join.parts().size(), of_pairs = last;
  std::uint32_t next_pair = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == kNewColumn) {
      last = join.parts().size();  // what comes behind is not side by side with what was before
      continue;
    }
    const JoinPlace at = join.place(names_[i]);
    const JoinPart& part = join.parts()[at.part];
    if (at.part != last) runs_.push_back({at.part, part.from, part.scale, i, {}});
    if (at.part != of_pairs) next_pair = 0;
    of_pairs = at.part;
    last = at.part;
    const bool packed = part.per == Owner::Kind::kPair && pairs == Pairs::kThese;
    Run& run = runs_.back();
    run.index.push_back(packed ? next_pair++ : at.index);
    run.side_by_side &= run.index.back() - run.index[0] == run.index.size() - 1;
    assert(!part.normalised || normalised_ == i);
    normalised_ += part.normalised;
  }
}

void JoinColumns::gather(const Tensors& tensors, std::size_t b, float* to) const {
  for (const Run& run : runs_) {
    const float* const from = tensors[run.from].at(b);
    float* const x = to + run.begin;
    if (run.side_by_side && run.scale == 1) {
      std::copy_n(from + run.index[0], run.index.size(), x);
      continue;
    }
    for (std::size_t i = 0; i < run.index.size(); ++i) x[i] = run.scale * from[run.index[i]];
  }
}

void JoinColumns::put_gradients(std::size_t part, const float* d, float* to) const {
  for (const Run& run : runs_) {
    if (run.part != part) continue;
    if (run.side_by_side && run.scale == 1) {
      std::copy_n(d + run.begin, run.index.size(), to + run.index[0]);
      continue;
    }
    for (std::size_t i = 0; i < run.index.size(); ++i) {
      to[run.index[i]] = run.scale * d[run.begin + i];
    }
  }
}

}  // namespace leveret::tape
