/// The sums that portions of a model add up for an example: the DES paper's, Algorithm 1.
///
/// A portion is what somebody holds of a model: cells of groups, slots of rows for some pairs,
/// columns of a first layer. A block makes a *partial* result of what a portion has, the sums of
/// all portions are added, and the block *finishes* with these, the same everywhere. Which numbers
/// these are is declared here; their order is that of declaring, and is kept, as noise on a network
/// goes by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tape/tensor.h"

namespace leveret::tape {

/// A sum's place in SumDecls.
enum class SumId : std::uint32_t { kNone = 0xffffffffu };

struct SumDecl {
  std::string name;   ///< no other sum has it
  std::string block;  ///< whose it is, in words: --explain_plan tells what each sends
  std::uint32_t floats = 1;
  Tensor::Per per = Tensor::Per::kExample;
  /// The sum is the first numbers of this tensor, of groups whose features lie in all portions. Who
  /// runs the blocks takes them from the tape after `partial`, and puts them there before `finish`.
  TensorId tensor = TensorId::kNone;
};

/// The sums of all blocks, for a model with so many fields. The ids are the same for any number.
class SumDecls {
 public:
  SumId add(SumDecl sum) {
    std::size_t& all = sum.per == Tensor::Per::kBatch ? of_batch_ : of_example_;
    places_.push_back(all);
    all += sum.floats;
    sums_.push_back(std::move(sum));
    return static_cast<SumId>(sums_.size() - 1);
  }
  /// kNone when no sum is called so.
  SumId find(std::string_view name) const {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].name == name) return static_cast<SumId>(i);
    }
    return SumId::kNone;
  }
  std::span<const SumDecl> all() const { return sums_; }
  const SumDecl& operator[](SumId id) const { return sums_[static_cast<std::size_t>(id)]; }
  /// The sum's first place among the floats of an example or of the batch.
  std::size_t place(SumId id) const { return places_[static_cast<std::size_t>(id)]; }
  /// Floats of an example, and those that come once a batch.
  std::size_t of_example() const { return of_example_; }
  std::size_t of_batch() const { return of_batch_; }

 private:
  std::vector<SumDecl> sums_;
  std::vector<std::size_t> places_;
  std::size_t of_example_ = 0, of_batch_ = 0;
};

/// The sums of an example, where they lie.
template <class Float>
class SumsOf {
 public:
  SumsOf(const SumDecls& declared, Float* at) : declared_(declared), at_(at) {}
  Float& operator[](SumId id) const { return at_[declared_.place(id)]; }
  std::span<Float> all(SumId id) const { return {at_ + declared_.place(id), declared_[id].floats}; }

 private:
  const SumDecls& declared_;
  Float* at_;
};

/// A share of a model, as far as blocks ask.
struct Portion {
  /// The features of groups [0, shared) lie in all portions, each feature in one.
  std::uint32_t shared = 0;
  std::vector<std::uint32_t> groups;  ///< it has all of these, ascending
  std::vector<bool> homes;            ///< by field: whether it counts what a field counts once
};

/// What everyone knows of examples whose features are in portions, by example: how many features of
/// fields it has in all, and the sum of the squares of their values as they came.
struct WholeExamples {
  std::span<const float> features, squares;
};

}  // namespace leveret::tape
