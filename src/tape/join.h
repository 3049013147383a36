/// The columns of a layer over numbers of several tensors, which say who owns them. Their order is
/// that of the parts of a Join, which the layer declares (block/dense/joined_dense.h); all others
/// go by owners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tape/extent.h"

namespace leveret::tape {

enum class TensorId : std::uint32_t;
class Tensors;

/// The owner of a number of an example: it has all that the number is made of.
struct Owner {
  enum class Kind : std::uint8_t {
    kAll,           ///< nobody's alone: everyone has it
    kFeatureGroup,  ///< a's, a group of linear features
    kField,         ///< a's, a field
    kPair,          ///< that of a pair of fields, a <= b
  };
  Kind kind = Kind::kAll;
  std::uint32_t a = 0, b = 0;

  static Owner feature_group(std::uint32_t g) { return {Kind::kFeatureGroup, g, 0}; }
  static Owner field(std::uint32_t f) { return {Kind::kField, f, 0}; }
  /// In any order.
  static Owner pair(std::uint32_t f, std::uint32_t g) {
    return f <= g ? Owner{Kind::kPair, f, g} : Owner{Kind::kPair, g, f};
  }
  bool operator==(const Owner&) const = default;
};

/// All numbers of a tensor, `width` of them for each owner of a kind, as a run of columns.
struct JoinPart {
  TensorId from;
  Owner::Kind per = Owner::Kind::kAll;
  bool normalised = false;  ///< with all others that are (MergeNorm); these come first
  float scale = 1;          ///< the column is so many times the number; 1 where it is normalised
  std::uint32_t width = 1;  ///< numbers of an owner, side by side
};

/// One place of a column: number `index` of a part's tensor.
struct JoinPlace {
  std::size_t part;
  std::uint32_t index;
};

class Join {
 public:
  /// How many owners of a kind there are.
  static std::uint32_t owners(Owner::Kind kind, Extent extent);

  /// The number of an owner among those of its kind. It stays when fields come.
  static std::uint32_t number_of(const Owner& owner);

  Join() = default;
  Join(std::vector<JoinPart> parts, Extent extent);

  const std::vector<JoinPart>& parts() const { return parts_; }
  /// Columns of a part, and the first of them.
  std::uint32_t columns(std::size_t part) const { return begins_[part + 1] - begins_[part]; }
  std::uint32_t begin(std::size_t part) const { return begins_[part]; }
  /// All columns; so many are normalised, from the first on.
  std::uint32_t size() const { return begins_.back(); }
  std::uint32_t normalised() const { return normalised_; }

  JoinPlace place(std::uint32_t column) const;
  /// The column that the owner has of a part, which is of its kind; the first of several.
  std::uint32_t column(std::size_t part, const Owner& owner) const {
    return begin(part) + number_of(owner) * parts_[part].width;
  }
  /// The columns that are nobody's alone, ascending: everyone's, and those of the first `shared`
  /// groups. Where there are none, one of nothing (kNewColumn).
  std::vector<std::uint32_t> everyones(std::uint32_t shared) const;

  /// The place that a column had when there were fewer fields; kNewColumn: it had none.
  std::uint32_t before(Extent fewer, std::uint32_t column) const;

 private:
  std::vector<JoinPart> parts_;
  std::vector<std::uint32_t> begins_{0};  ///< by part; and behind the last one
  std::uint32_t normalised_ = 0;
};

/// Some columns of a join, in an order of their own, and their numbers: what a partition of a model
/// has of a layer. Const after construction.
class JoinColumns {
 public:
  JoinColumns() = default;
  /// The place of the numbers of pairs: by the join's owners, or in a tensor that has just these
  /// columns', in their order.
  enum class Pairs : std::uint8_t { kAll, kThese };
  /// `names`: columns of the join; those that are normalised come first. kNewColumn: a column of
  /// nothing, which is not filled.
  JoinColumns(const Join& join, std::vector<std::uint32_t> names, Pairs pairs = Pairs::kAll);

  const std::vector<std::uint32_t>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  std::size_t normalised() const { return normalised_; }

  /// Columns side by side that are numbers of one tensor.
  struct Run {
    std::size_t part;
    TensorId from;
    float scale;
    std::size_t begin;                 ///< the first of them, among `names`
    std::vector<std::uint32_t> index;  ///< which numbers
    bool side_by_side = true;          ///< they are index[0], index[0] + 1, …
  };
  const std::vector<Run>& runs() const { return runs_; }

  /// Puts the numbers of example b to their places in `to`, as they are before they are normalised.
  void gather(const Tensors& tensors, std::size_t b, float* to) const;
  /// From the gradients `d` of an example's columns writes those of a part's numbers to where its
  /// tensor has them.
  void put_gradients(std::size_t part, const float* d, float* to) const;

 private:
  std::vector<std::uint32_t> names_;
  std::size_t normalised_ = 0;
  std::vector<Run> runs_;
};

}  // namespace leveret::tape
