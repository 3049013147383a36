#include "block/numbers_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace leveret::block {
namespace {

/// The N numbers of example b, as the batch has them; null: there are none.
const float* numbers_of(const tape::Tape& tape, std::size_t b, std::size_t count) {
  const std::vector<float>& numbers = tape.batch->numbers;
  return numbers.empty() ? nullptr : numbers.data() + (tape.first + b) * count;
}

constexpr float kLargest = std::numeric_limits<float>::max();

/// sign(x) log(1 + |x|).
float signed_log(float x) { return std::copysign(std::log1p(std::fabs(x)), x); }

}  // namespace

void NumbersBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  const std::uint32_t both = 2 * count_;
  both_ = declarations.add(tape::Tensor{.name = "numbers.both", .size = both});
  standard_ = declarations.add(tape::Tensor{.name = kStandard, .size = both, .gradient = true});
  totals_ = declarations.add_totals("numbers", both_, /*rests=*/false);
}

void NumbersBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                                tape::SumDecls& sums) {
  sum_ = sums.add({"numbers", "numbers", count_});
}

void NumbersBlock::partial(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const numbers = numbers_of(run.tape, b, count_);
    if (numbers != nullptr) std::copy_n(numbers, count_, run.sums_of(b).all(sum_).begin());
  }
}

void NumbersBlock::finish(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    std::ranges::copy(run.sums_of(b).all(sum_), run.tape[both_].at(b));
    standardise(run, b);
  }
}

void NumbersBlock::forward(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const numbers = numbers_of(run.tape, b, count_);
    float* const to = run.tape[both_].at(b);
    numbers != nullptr ? std::copy_n(numbers, count_, to) : std::fill_n(to, count_, 0.0f);
    standardise(run, b);
  }
}

/// From its N numbers, in `both_`.
void NumbersBlock::standardise(const Run& run, std::size_t b) const {
  float* const both = run.tape[both_].at(b);
  for (std::uint32_t i = 0; i < count_; ++i) {
    both[i] = std::clamp(both[i], -kLargest, kLargest);
    both[count_ + i] = signed_log(both[i]);
  }
  const double* const count = run.parameters.scalars.totals.data() + totals_;
  const double *const means = count + 1, *const squares = means + 2 * std::size_t{count_};
  float* const z = run.tape[standard_].at(b);
  for (std::uint32_t i = 0; i < 2 * count_; ++i) {
    z[i] = 0;
    if (squares[i] <= 0) continue;
    const double from_mean = static_cast<double>(both[i]) - means[i];
    const double of_deviation = from_mean / std::sqrt(squares[i] / *count);
    z[i] = static_cast<float>(std::clamp(of_deviation, -double{kMost}, double{kMost}));
  }
}

}  // namespace leveret::block
