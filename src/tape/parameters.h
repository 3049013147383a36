/// The values of what blocks learn beside the tables. Small, and written by every example, so that
/// each hogwild thread has a replica.
///
/// Owned by a model or a replica of it; blocks read it, optimizers write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "table/aligned.h"
#include "tape/dense.h"
#include "tape/extent.h"
#include "tape/learned_array.h"
#include "tape/scalars.h"

namespace leveret::tape {

/// The values of an array: `pieces()` pieces of `piece` numbers, `step` from one to the next.
template <class T>
struct ArrayValues {
  const LearnedArray& array;
  T* first;
  std::size_t piece, step;
  std::size_t pieces() const { return array.rows(); }
  /// Padding included.
  std::span<T> all() const { return {first, array.rows() * step}; }
};

class Parameters {
 public:
  Extent layout;  ///< of the fields that have been met
  Scalars scalars;

  /// Whether blocks have declared their arrays.
  bool has_arrays() const { return declared_ != nullptr; }
  /// Brings all arrays to the shapes that they have with the fields of `to`: what is there by an
  /// array's name goes where LearnedArray::source says, what is new gets first values.
  void fit(Extent to, std::shared_ptr<const Declarations> declared);

  std::span<float> operator[](ArrayId id) { return values_[static_cast<std::size_t>(id)]; }
  std::span<const float> operator[](ArrayId id) const {
    return values_[static_cast<std::size_t>(id)];
  }
  /// kNone when no array is called so. Not for use by the example.
  ArrayId find(std::string_view name) const;
  const Declarations& declared() const { return *declared_; }
  const std::shared_ptr<const Declarations>& shared_declared() const { return declared_; }

  /// Fully connected layers, tower by tower, in the order of running; views, good until the shapes
  /// change. Without fields those over tensors of fields have no inputs and no outputs.
  std::size_t layer_count() const { return layers_.size(); }
  Dense layer(std::size_t l) { return layer_of<Dense>(*this, l); }
  ConstDense layer(std::size_t l) const { return layer_of<const ConstDense>(*this, l); }
  /// The same with its rule and states.
  LearnedDense learned_layer(std::size_t l);
  States states(ArrayId id);
  std::vector<Dense> layers();
  std::vector<ConstDense> layers() const;

  /// Calls visit(ArrayValues) for every array, in the order of files: first those in `scalars`.
  template <class Visit>
  void for_each(Visit visit) {
    for_each(*this, visit);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for_each(*this, visit);
  }

  /// Adds what happened between `before` and `after` to this, the work of another thread; both
  /// become as this is then. One pass, as each takes the cache.
  void exchange(Parameters& before, Parameters& after);

 private:
  struct Layer {
    LayerArrays arrays;
    std::uint32_t inputs, outputs;
  };
  template <class View, class Self>
  static std::remove_const_t<View> layer_of(Self& self, std::size_t l) {
    const Layer& layer = self.layers_[l];
    return {layer.inputs, layer.outputs, self[layer.arrays.weights], self[layer.arrays.bias]};
  }
  template <class Self, class Visit>
  static void for_each(Self& self, Visit visit);
  void exchange_totals(const TotalsDecl& totals, const Scalars& before, const Scalars& after);
  ArrayId find_near(std::string_view name, std::size_t id) const;

  std::shared_ptr<const Declarations> declared_;
  std::vector<table::AlignedFloats> values_;  ///< by id; empty for what is in `scalars`
  std::vector<Layer> layers_;
};

template <class Self, class Visit>
void Parameters::for_each(Self& self, Visit visit) {
  constexpr bool kConst = std::is_const_v<Self>;
  using Float = std::conditional_t<kConst, const float, float>;
  using Double = std::conditional_t<kConst, const double, double>;
  if (!self.has_arrays()) return;
  auto& scalars = const_cast<Scalars&>(self.scalars);
  for (const LearnedArray& array : self.declared_->arrays) {
    const std::size_t columns = array.columns();
    if (Double* const doubles = array.doubles_in(scalars)) {
      visit(ArrayValues<Double>{array, doubles, columns, columns});
    } else if (Float* const floats = array.floats_in(scalars)) {
      visit(ArrayValues<Float>{array, floats, columns, columns});
    }
  }
  for (std::size_t id = 0; id < self.values_.size(); ++id) {
    const LearnedArray& array = self.declared_->arrays[id];
    if (array.in_scalars() || array.rows() * array.columns() == 0) continue;
    visit(ArrayValues<Float>{array, self.values_[id].data(), array.columns(), array.stride()});
  }
}

}  // namespace leveret::tape
