// Any bytes as the text of --transform: refused with a message, or read back from its own text.

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "feature/transform.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leveret::feature;
  try {
    const auto transforms = parse_transforms({reinterpret_cast<const char*>(data), size});
    if (parse_transforms(transforms_text(transforms)) != transforms) __builtin_trap();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
