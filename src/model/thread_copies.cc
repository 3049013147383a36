#include "model/thread_copies.h"

#include <algorithm>
#include <bit>

namespace leveret::model {
namespace {

/// Bytes from one copy to the next: small ones do not straddle cache lines, and share them.
std::size_t copy_stride(std::size_t bytes) {
  return bytes < kLineBytes ? std::bit_ceil(bytes) : odd_lines(bytes);
}

}  // namespace

template <class T>
CopySet<T>::CopySet(std::size_t slots, std::size_t length)
    : length_(length),
      stride_(copy_stride(length * sizeof(T)) / sizeof(T)),
      mask_(static_cast<std::uint32_t>(slots - 1)),
      homes_(slots, nullptr),
      data_(2 * slots * stride_) {}

template <class T>
T* CopySet<T>::claim(T* home, std::uint32_t i) {
  homes_[i] = home;
  claimed_.push_back(i);
  std::copy_n(home, length_, now(i));
  std::copy_n(now(i), length_, before(i));
  return now(i);
}

template class CopySet<float>;
template class CopySet<std::byte>;

void ThreadCopies::fit(const Model& model) {
  const RowShape shape = model.row_shape();
  const std::size_t bytes = shape.used_bytes();
  if (model.fields().empty() || (rows.size() == model.fields().size() && row_bytes_ == bytes)) {
    return;
  }
  row_bytes_ = bytes;
  rows.assign(model.fields().size(), CopySet<std::byte>(kRows, bytes));
}

}  // namespace leveret::model
