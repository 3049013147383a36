/// A rule of learning: how weights move by their gradients, and the states that it keeps of them.
///
/// A rule is a pair of files here and a line of kinds.cc. Its states are arrays beside those of
/// weights (tape/learned_array.h), or columns of rows (table/row_layout.h): sections of files,
/// replicas of threads, partitions of a model and patches have them because they are declared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/kernels.h"
#include "kernels/rows/codec.h"

namespace leveret::rules {

/// How the work of several threads, each on a replica, becomes one.
enum class Merge : std::uint8_t {
  kAdd,     ///< changes add up
  kSum,     ///< a sum that may forget: where it has become less, it becomes as many times less
  kLatest,  ///< it is where the last examples want it: changes that add up would carry it beyond
  kShares,  ///< logarithms of a mixer's shares: they forget, and the largest is 0
};

/// Numbers that a rule keeps of weights. A vector of weights moves as one: a slot of a row, the
/// weights of a neuron; a number of an array that is no matrix is a vector of its own.
struct State {
  enum class Per : std::uint8_t { kWeight, kVector };

  const char* name;  ///< of an array W of weights: the state's array is called W_NAME
  Per per = Per::kWeight;
  float first = 0;                               ///< value
  Merge merge = Merge::kAdd;                     ///< of arrays; rows are shared by threads
  kernels::Codec codec = kernels::Codec::f32();  ///< of rows; arrays are floats
};

/// The most states that a rule has; it has one at least.
inline constexpr std::size_t kMostStates = 3;

/// A vector that moves. The decay is that of AdaGrad's sums for the examples of the step.
struct Moved {
  float* weights;
  const float* gradient;  ///< within ±kernels::kMaxGradient
  std::size_t size;
  /// In the order of Rule::states: `size` numbers of a state per weight, one of a state per vector.
  std::array<float*, kMostStates> states{};
  float decay = 1;   ///< see block/forgetting.h
  float warmth = 1;  ///< share of the rate, in (0, 1] (optim/warmup.h)
};

/// Const after construction; any number of threads.
class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::span<const State> states() const = 0;
  /// A step of a vector that has a gradient; all others stay as they are, bit for bit.
  virtual void step(const kernels::Kernels& kernels, const Moved& moved) const = 0;
  /// The rule as kernels know it, which make its steps while they go through rows and layers, or
  /// null. Where it is not null, the only state is AdaGrad's sum, and changes that threads make
  /// side by side may be added up; means of gradients, renewed within a few examples, do not stand
  /// that: they grow without an end.
  virtual const kernels::StepRule* fused() const { return nullptr; }
  /// This rule for weights whose gradients are small beside those that the rate is for: at so many
  /// times the rate, where steps grow with gradients; else the rule as it is.
  virtual std::shared_ptr<const Rule> for_small_gradients(float times) const = 0;
};

using RulePtr = std::shared_ptr<const Rule>;

}  // namespace leveret::rules
