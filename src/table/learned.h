/// The purpose of a learned number. Files, exports, patches and `inspect` follow from it.
#pragma once

#include <cstdint>

namespace leveret::table {

enum class Learned : std::uint8_t {
  kParameter,  ///< predictions need it
  kState,      ///< only the optimizer needs it
  kStatistic,  ///< was counted; predictions may read it
};

}  // namespace leveret::table
