/// Some columns of a layer's weights, with what the optimizer keeps of them: those of the inputs
/// that a shard makes (DES paper, eq. 8).
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
  /// Those of what is normalised, or of the rest, of a layer by its number in Parameters.
  Columns(std::size_t layer, bool normalised) : layer_(layer), normalised_(normalised) {}

  std::size_t of_layer() const { return layer_; }
  bool normalised() const { return normalised_; }
  /// `names`: ascending, by the layout `to`; those that were there stay as they are. `declared`:
  /// the arrays of the whole model, as they are with `to`.
  void fit(std::vector<std::uint32_t> names, tape::Extent to, const tape::Declarations& declared);

  const std::vector<std::uint32_t>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  /// Without biases. Its weights lie in rows of width() floats, zeros behind the columns.
  tape::LearnedDense layer();
  tape::ConstDense layer() const;
  std::size_t width() const { return table::whole_lines(size()); }

  /// Calls visit(std::span) with the values of each array that has columns: weights, and what their
  /// rule keeps of each; rows of width() floats.
  template <class Visit>
  void for_each(Visit visit) {
    for (Array& array : arrays_) {
      if (array.by_column) visit(std::span<float>(array.values));
    }
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Array& array : arrays_) {
      if (array.by_column) visit(std::span<const float>(array.values));
    }
  }

  /// Copies the columns between this and the arrays of a whole model with the same fields.
  void put_into(tape::Parameters& whole) const;
  void take_from(const tape::Parameters& whole);
  /// Copies what the rule keeps of an output, whatever its columns, from who learns the biases.
  /// Before each step.
  void take_common(const tape::Parameters& everyones);

 private:
  struct Array {
    tape::ArrayId id;
    table::AlignedFloats values;
    bool by_column = true;  ///< else a number of each output, see take_common
  };

  std::size_t layer_;
  bool normalised_;
  tape::Extent layout_;
  std::vector<std::uint32_t> names_;
  std::uint32_t outputs_ = 0;
  rules::RulePtr rule_;
  std::vector<Array> arrays_;  ///< weights, and the states of the rule
};

}  // namespace leveret::dist
