#include "patch/range_coder.h"

#include <utility>

namespace leveret::patch {

void RangeEncoder::shift() {
  if (low_ < 0xff000000u || low_ > 0xffffffffu) {
    const auto carry = static_cast<std::uint8_t>(low_ >> 32);
    // The first byte held is none: it is always 0, and is left out.
    if (begun_) bytes_.push_back(static_cast<std::byte>(held_ + carry));
    begun_ = true;
    bytes_.insert(bytes_.end(), pending_, static_cast<std::byte>(0xff + carry));
    pending_ = 0;
    held_ = static_cast<std::uint8_t>(low_ >> 24);
  } else {
    ++pending_;
  }
  low_ = (low_ & 0x00ffffffu) << 8;
}

std::vector<std::byte> RangeEncoder::finish() {
  for (int i = 0; i < 5; ++i) shift();
  return std::move(bytes_);
}

RangeDecoder::RangeDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {
  for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
}

}  // namespace leveret::patch
