/// Some columns of the first layer's weights, with what the optimizer keeps of them: those of the
/// inputs that a shard makes (DES paper, eq. 8).
///
/// A column is called by its place among all inputs (tape::Join), and has the first values
/// that it has in a model that lies in one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tape/dense.h"
#include "tape/extent.h"
#include "tape/parameters.h"

namespace leveret::dist {

/// Owned by a shard; one thread.
class Columns {
 public:
  /// `names`: ascending, by the layout `to`; those that were there stay as they are. `declared`:
  /// the arrays of the whole model, as they are with `to`.
  void fit(std::vector<std::uint32_t> names, tape::Extent to, const tape::Declarations& declared);

  const std::vector<std::uint32_t>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  /// Without biases. Its weights lie in rows of width() floats, zeros behind the columns.
  tape::Dense layer() { return layer_of<tape::Dense>(*this); }
  tape::ConstDense layer() const { return layer_of<const tape::ConstDense>(*this); }
  std::size_t width() const { return table::whole_lines(size()); }

  /// Calls visit(std::span) with the values of each array: weights, state, and with Adam moments;
  /// rows of width() floats.
  template <class Visit>
  void for_each(Visit visit) {
    for (Array& array : arrays_) visit(std::span<float>(array.values));
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Array& array : arrays_) visit(std::span<const float>(array.values));
  }

  /// Copies the columns between this and the arrays of a whole model with the same fields.
  void put_into(tape::Parameters& whole) const;
  void take_from(const tape::Parameters& whole);

 private:
  struct Array {
    tape::ArrayId id;
    table::AlignedFloats values;
  };
  template <class View, class Self>
  static std::remove_const_t<View> layer_of(Self& self) {
    const auto values = [&](std::size_t i) {
      return i < self.arrays_.size() ? decltype(View::weights)(self.arrays_[i].values)
                                     : decltype(View::weights)();
    };
    return {static_cast<std::uint32_t>(self.size()),
            self.outputs_,
            values(0),
            {},
            values(1),
            {},
            values(2),
            {}};
  }

  tape::Extent layout_;
  std::vector<std::uint32_t> names_;
  std::uint32_t outputs_ = 0;
  std::vector<Array> arrays_;  ///< weights, state, and with Adam moments
};

}  // namespace leveret::dist
