/// A source whose bytes come as badly as they can.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "stream/byte_source.h"

namespace leveret::stream::testing {

/// Gives `bytes` in pieces of pseudo-random size, with pauses, unless it `pauses` never; then ends,
/// or throws `error`.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view bytes, std::uint32_t seed, bool pauses = true,
         const char* error = nullptr)
      : bytes_(bytes), state_(seed), pauses_(pauses), error_(error) {}
  std::optional<std::size_t> try_read(char* to, std::size_t max) override {
    state_ = state_ * 1664525u + 1013904223u;
    if (pauses_ && !bytes_.empty() && state_ >> 30 == 0) return std::nullopt;
    if (bytes_.empty() && error_ != nullptr) throw std::runtime_error(error_);
    const std::size_t size = std::min({max, bytes_.size(), std::size_t{1} + (state_ >> 16) % 40});
    bytes_.copy(to, size);
    bytes_.remove_prefix(size);
    return size;
  }
  void wait(Patience) override {}
  const std::string& name() const override { return name_; }
  std::uint64_t bytes_consumed() const override { return 0; }
  std::optional<std::uint64_t> bytes_total() const override { return {}; }

 private:
  std::string_view bytes_;
  std::uint32_t state_;
  const bool pauses_;
  const char* const error_;
  const std::string name_ = "log";
};

}  // namespace leveret::stream::testing
