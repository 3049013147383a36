/// The layout of a row: parts, each with weights of one codec and the optimizer's states beside
/// them, or none.
///
/// In memory a row is one piece, so that reading it is one walk through the page tables: the
/// weights of all parts, then all states. In a file each array of a part is a column of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/rows/codec.h"

namespace leveret::table {

/// Numbers that an optimizer keeps beside the weights of a part.
struct RowState {
  enum class Per : std::uint8_t { kWeight, kSlot, kRow };

  kernels::Codec codec;
  Per per = Per::kSlot;
  float first = 0;  ///< value of all of them in a new row
};

/// One kind of weights. FFM: a slot of k weights for each opposite field, or for some of them. An
/// embedding: one slot of d.
struct RowPart {
  std::uint32_t slots = 0;
  bool by_field = true;      ///< there are more slots when there are more fields
  std::uint32_t k = 0;       ///< weights of a slot, as they are stored
  std::uint32_t used_k = 0;  ///< the first so many learn; the others are 0 and stay so
  kernels::Codec codec;
  float init_width = 0;          ///< first weights are uniform in [-init_width, init_width]
  std::vector<RowState> states;  ///< empty: a row for serving
  std::vector<std::uint32_t>
      opposite;  ///< ascending numbers of the slots; empty: 0, 1, …, slots - 1

  std::size_t weights() const { return std::size_t{slots} * k; }
  std::size_t count(const RowState& state) const {
    return state.per == RowState::Per::kWeight ? weights()
           : state.per == RowState::Per::kSlot ? slots
                                               : 1;
  }
  /// The name of a slot, so that its first weights are the same wherever it lies.
  std::uint32_t slot_name(std::uint32_t slot) const {
    return opposite.empty() ? slot : opposite[slot];
  }
};

/// Where the arrays of a row lie. A value; cheap to read, not to make.
class RowLayout {
 public:
  /// One array of a row.
  struct Column {
    kernels::Codec codec;
    std::size_t count;  ///< numbers in it
    std::size_t begin;  ///< bytes from the start of the row
    std::size_t bytes() const { return codec.bytes(count); }
  };

  /// No parts: a row of nothing.
  RowLayout() = default;
  explicit RowLayout(std::vector<RowPart> parts);

  const std::vector<RowPart>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  const Column& weights(std::size_t part) const { return weights_[part]; }
  const Column& state(std::size_t part, std::size_t state) const { return states_[part][state]; }

  /// The noise of a step of the part: by the names of its slots, so that one is rounded alike
  /// wherever it lies. Valid as long as the layout.
  kernels::RowNoise noise(std::size_t part, std::uint32_t seed) const;

  // Bytes.
  std::size_t weight_bytes() const { return weight_bytes_; }  ///< of all parts: they come first
  std::size_t used_bytes() const { return used_bytes_; }
  /// From one row to the next; a multiple of half a cache line (aligned.h), but for rows of a file.
  std::size_t stride() const { return stride_; }

  /// The same with `slots` in the parts that have them by field, more than now, whose names go on
  /// from the last one.
  RowLayout with_slots(std::uint32_t slots) const;
  /// The same with slots of these names, ascending, in the parts that have them by field.
  RowLayout with_opposite(const std::vector<std::uint32_t>& names) const;
  /// The same without states: what prediction needs.
  RowLayout for_serving() const;
  /// The same without a gap between rows, as a column of a file that is mapped.
  RowLayout without_gaps() const;

 private:
  std::vector<RowPart> parts_;
  std::vector<Column> weights_;
  std::vector<std::vector<Column>> states_;
  /// By part, see kernels::RowNoise; empty where slots are called 0, 1, ...
  struct NoiseSteps {
    std::vector<std::uint32_t> numbers, slots;
  };
  std::vector<NoiseSteps> noise_steps_;
  std::size_t weight_bytes_ = 0, used_bytes_ = 0, stride_ = 0;
};

}  // namespace leveret::table
