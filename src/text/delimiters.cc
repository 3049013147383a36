#include "text/delimiters.h"

#include <algorithm>

namespace leveret::text {

void DelimiterCursor::start(std::string_view text) {
  text_ = text.data();
  size_ = static_cast<std::uint32_t>(text.size());
  indexed_ = 0;
  refill();
}

void DelimiterCursor::refill() {
  next_ = end_ = 0;
  while (end_ == 0 && indexed_ < size_) {
    const std::uint32_t size = std::min(size_ - indexed_, kWindow);
    const std::uint32_t* const end =
        kernels_.delimiters(text_ + indexed_, size, indexed_, positions_.data());
    indexed_ += size;
    end_ = static_cast<std::uint32_t>(end - positions_.data());
  }
  if (end_ == 0) positions_[end_++] = size_;
}

}  // namespace leveret::text
