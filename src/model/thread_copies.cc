#include "model/thread_copies.h"

#include <algorithm>
#include <bit>

namespace leveret::model {
namespace {

/// Floats from one copy to the next: small ones do not straddle cache lines, and share them.
std::size_t copy_stride(std::size_t floats) {
  return floats < kLineFloats ? std::bit_ceil(floats) : odd_lines(floats);
}

}  // namespace

CopySet::CopySet(std::size_t slots, std::size_t floats)
    : floats_(floats),
      stride_(copy_stride(floats)),
      mask_(static_cast<std::uint32_t>(slots - 1)),
      homes_(slots, nullptr),
      data_(2 * slots * stride_) {}

float* CopySet::claim(float* home, std::uint32_t i) {
  homes_[i] = home;
  claimed_.push_back(i);
  std::copy_n(home, floats_, now(i));
  std::copy_n(now(i), floats_, before(i));
  return now(i);
}

void ThreadCopies::fit(const Model& model) {
  const RowShape shape = model.row_shape();
  const std::size_t floats = shape.weights() + shape.state();
  if (model.fields().empty() || (rows.size() == model.fields().size() && row_floats_ == floats)) {
    return;
  }
  row_floats_ = floats;
  rows.assign(model.fields().size(), CopySet(kRows, floats));
}

}  // namespace leveret::model
