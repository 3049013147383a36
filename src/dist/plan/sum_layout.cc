#include "dist/plan/sum_layout.h"

#include "net/make_blocks.h"

namespace leveret::dist {

SumLayout SumLayout::of(const block::Config& config, tape::Extent extent, std::uint32_t shared) {
  return {net::declare_sums(config, extent, shared), shared};
}

}  // namespace leveret::dist
