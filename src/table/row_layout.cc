#include "table/row_layout.h"

#include <algorithm>
#include <utility>

#include "table/aligned.h"

namespace leveret::table {

namespace {

/// A stride is a multiple of this. Rows that kernels read in place, of several lines, seldom fill
/// their last one, and begin at half lines: whole ones would save the widest registers of 16-bit
/// weights some accesses to two lines (FFM with 39 fields, k = 8: 2 % of the time, 4 % more
/// memory). Those that are decoded first, and a lonely vector, lie as close as their numbers allow.
std::size_t grain_of(const std::vector<RowPart>& parts, std::size_t largest_number) {
  for (const RowPart& part : parts) {
    if (part.by_field && !part.codec.is_narrow()) return kLineBytes / 2;
  }
  return largest_number;
}

}  // namespace

RowLayout::RowLayout(std::vector<RowPart> parts) : parts_(std::move(parts)) {
  std::size_t end = 0, largest_number = 1;
  const auto place = [&](kernels::Codec codec, std::size_t count) {
    // Each array begins at a multiple of its numbers' size; one that begins with a scale, of that.
    const std::size_t unit =
        codec.is_scaled() ? kernels::Codec::kScaleBytes : std::max<std::size_t>(codec.bytes(1), 1);
    largest_number = std::max(largest_number, unit);
    const Column column = {codec, count, (end + unit - 1) / unit * unit};
    end = column.begin + column.bytes();
    return column;
  };
  for (const RowPart& part : parts_) weights_.push_back(place(part.codec, part.weights()));
  weight_bytes_ = end;
  for (const RowPart& part : parts_) {
    std::vector<Column>& columns = states_.emplace_back();
    for (const RowState& state : part.states) {
      columns.push_back(place(state.codec, part.count(state)));
    }
  }
  used_bytes_ = end;
  stride_ = packed(used_bytes_, grain_of(parts_, largest_number));
  for (const RowPart& part : parts_) {
    NoiseSteps& steps = noise_steps_.emplace_back();
    if (part.opposite.empty()) continue;
    steps.numbers.reserve(part.weights() + kernels::Kernels::kSpare);
    for (const std::uint32_t name : part.opposite) {
      steps.slots.push_back(name * kernels::kNoiseStep);
      for (std::uint32_t c = 0; c < part.k; ++c) {
        steps.numbers.push_back((name * part.k + c) * kernels::kNoiseStep);
      }
    }
    for (std::vector<std::uint32_t>* const of : {&steps.numbers, &steps.slots}) {
      of->resize(of->size() + kernels::Kernels::kSpare);
    }
  }
}

kernels::RowNoise RowLayout::noise(std::size_t part, std::uint32_t seed) const {
  const NoiseSteps& steps = noise_steps_[part];
  if (steps.slots.empty()) return {seed};
  return {seed, steps.numbers.data(), steps.slots.data()};
}

RowLayout RowLayout::with_slots(std::uint32_t slots) const {
  std::vector<RowPart> parts = parts_;
  for (RowPart& part : parts) {
    if (!part.by_field) continue;
    std::vector<std::uint32_t>& names = part.opposite;
    while (!names.empty() && names.size() < slots) names.push_back(names.back() + 1);
    part.slots = slots;
  }
  return RowLayout(std::move(parts));
}

RowLayout RowLayout::with_opposite(const std::vector<std::uint32_t>& names) const {
  std::vector<RowPart> parts = parts_;
  for (RowPart& part : parts) {
    if (!part.by_field) continue;
    part.opposite = names;
    part.slots = static_cast<std::uint32_t>(names.size());
  }
  return RowLayout(std::move(parts));
}

RowLayout RowLayout::for_serving() const {
  std::vector<RowPart> parts = parts_;
  for (RowPart& part : parts) part.states.clear();
  return RowLayout(std::move(parts));
}

RowLayout RowLayout::without_gaps() const {
  RowLayout dense = *this;
  dense.stride_ = used_bytes_;
  return dense;
}

}  // namespace leveret::table
