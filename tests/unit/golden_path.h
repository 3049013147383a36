/// Where the kept files of released versions lie.
#pragma once

#include <cstdlib>
#include <string>

namespace leveret {

/// tests/golden/NAME of the folder that LEVERET_GOLDEN_DIR names in the environment, as ctest does,
/// or else of the checkout that the program is run in.
inline std::string golden_path(const std::string& name) {
  const char* folder = std::getenv("LEVERET_GOLDEN_DIR");
  return std::string(folder == nullptr ? "tests/golden" : folder) + "/" + name;
}

}  // namespace leveret
