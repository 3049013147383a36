// What a network says of a block whose work cannot be divided.
#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "block/block.h"
#include "net/network.h"
#include "random_model.h"

namespace leveret::model {
namespace {

/// It says nothing of how it is divided.
class WholeBlock final : public block::Block {
 public:
  void finish(const block::Run&) const override {}
};

TEST_CASE("a block that needs whole examples is refused in shards, and told of in contexts") {
  const Model model(Spec(), kTestMemory);
  const block::Config config = model.config();
  const net::Network without(config, kernels::active());
  CHECK_NOTHROW(without.check_partitions());
  CHECK(without.why_not_in_contexts().empty());
  net::Blocks blocks = net::make_blocks(config, kernels::active());
  blocks.push_back(std::make_unique<WholeBlock>());
  const net::Network network(config, std::move(blocks));
  CHECK_THROWS_WITH(network.check_partitions(), Catch::Contains("needs whole examples"));
  CHECK(network.why_not_in_contexts() == "a block that needs whole examples");
}

}  // namespace
}  // namespace leveret::model
