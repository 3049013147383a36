/// The bins of a number or of two, as --transform's binners define them (leveret-transforms(7)).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "feature/transform.h"

namespace leveret::feature {

struct Bin {
  std::array<char, 48> text;  ///< room for two numbers of 20 digits and what stands around them
  std::size_t size;
  float weight;  ///< > 0; those of a number's bins add up to 1

  std::string_view name() const { return {text.data(), size}; }
};

struct Bins {
  std::array<Bin, 2> bins;
  std::size_t count = 0;
};

/// The bins of `a`, or of `a` and `b` for a log ratio. `transform` is one of the binners.
Bins bins_of(const Transform& transform, double a, double b);

}  // namespace leveret::feature
