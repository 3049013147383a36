#include "block/module/linear_module.h"

namespace leveret::block {

Tokens LinearModule::declare(const Tokens& in, const tape::Extent& extent,
                             tape::Declarations& declarations) {
  return mix_.declare(place_.name, in, place_.tokens, extent, *place_.config, declarations);
}

}  // namespace leveret::block
