/// Values and gradients of what blocks have declared as tensors, by id: one place that makes room
/// for all of them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "table/aligned.h"
#include "tape/learned_array.h"
#include "tape/tensor.h"

namespace leveret::tape {

/// Where a tensor lies on a tape. There are kSpare more floats (kernels.h) behind values and
/// gradients, or those of other examples: who makes an example's may write there, as these are made
/// later.
struct TensorPlace {
  float* values = nullptr;    ///< null: nobody reads them (Tensor::only_if_read)
  float* gradient = nullptr;  ///< null: it has none
  std::size_t stride = 0;     ///< floats from one example's values to the next one's
  std::size_t d_stride = 0;   ///< the same of gradients
  std::uint32_t readers = 0;

  // Where example b of the tape has its own.
  float* at(std::size_t b) { return values + b * stride; }
  const float* at(std::size_t b) const { return values + b * stride; }
  float* d_at(std::size_t b) { return gradient + b * d_stride; }
  const float* d_at(std::size_t b) const { return gradient + b * d_stride; }
};

/// One thread's. Room grows to the largest batch, and stays.
class Tensors {
 public:
  /// Makes room for `examples` at a time. What was there is no longer.
  void open(const Declarations& declared, std::size_t examples);
  /// The same, and nothing to do where these were opened last, with as much room.
  void open(const std::shared_ptr<const Declarations>& declared, std::size_t examples) {
    if (opened_ == declared && examples <= room_) return;
    open(*declared, examples);
    opened_ = declared;
    room_ = examples;
  }
  /// The same for one example: what it has of its own lies in the place of example b in `all`,
  /// which is open, and stays where it is as long as this is used.
  void open_in(Tensors& all, const Declarations& declared, std::size_t b);
  /// The same for a partition of the model: tensors that are everyone's (Tensor::owner) lie in the
  /// places of `all`, which is open for as many examples, and stays so as long as this is used.
  void open_partition(Tensors& all, const Declarations& declared, std::size_t examples);

  TensorPlace& operator[](TensorId id) { return places_[static_cast<std::size_t>(id)]; }
  const TensorPlace& operator[](TensorId id) const { return places_[static_cast<std::size_t>(id)]; }

  /// Where a reader writes its d loss / d tensor of all `examples`, as the tensor's gradients lie.
  /// add_d_of_reader follows.
  float* d_of_reader(const TensorInput& input, std::size_t examples);
  /// Adds it to those of the readers that have come before, on the way back.
  void add_d_of_reader(const TensorInput& input, std::size_t examples);

 private:
  struct Store {
    table::AlignedFloats values, gradient;
  };
  void make_room(const Tensor& tensor, std::size_t examples, Store& store, TensorPlace& place);
  /// The last one in order is the first on the way back.
  bool comes_first(const TensorInput& input) const {
    return input.reader + 1 == (*this)[input.id].readers;
  }

  std::vector<Store> stores_;
  std::vector<TensorPlace> places_;
  std::shared_ptr<const Declarations> opened_;  ///< null: unknown
  std::size_t room_ = 0;                        ///< examples
  table::AlignedFloats of_reader_;
};

}  // namespace leveret::tape
