/// Where the kept files of released versions lie.
#pragma once

#include <string>

namespace leveret {

/// tests/golden/NAME; the folder is the build's to know, as __FILE__ may be a relative path.
inline std::string golden_path(const std::string& name) {
  return std::string(LEVERET_GOLDEN_DIR) + "/" + name;
}

}  // namespace leveret
