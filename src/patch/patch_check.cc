#include "patch/patch_check.h"

namespace leveret::patch {

PatchFront check_patch(const std::string& path) {
  PatchReader patch(path);
  while (patch.next_or_end()) {
  }
  return patch.front();
}

}  // namespace leveret::patch
