// Whoever adds a block adds a model to the list that tests go through.
#include "specs_to_test.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "net/make_blocks.h"
#include "random_model.h"

namespace leveret::model {
namespace {

TEST_CASE("the list of models to test has one with each block") {
  const std::vector<NamedSpec> all = specs_to_test();
  for (const net::BlockKind& kind : net::block_kinds()) {
    INFO("block " << kind.name);
    CHECK(std::ranges::any_of(all, [&](const NamedSpec& named) {
      return kind.is_in(Model(named.spec, kTestMemory).config());
    }));
  }
}

TEST_CASE("each learned array has a name of its own, and a block's arrays keep their ids") {
  for (const NamedSpec& named : specs_to_test()) {
    const block::Config config = Model(named.spec, kTestMemory).config();
    const tape::Declarations none = net::declare_all(config, {0}),
                             some = net::declare_all(config, {3});
    REQUIRE(none.arrays.size() == some.arrays.size());
    for (std::size_t i = 0; i < some.arrays.size(); ++i) {
      INFO(named.name << ": " << some.arrays[i].name);
      CHECK(none.arrays[i].name == some.arrays[i].name);
      CHECK(std::ranges::count(some.arrays, some.arrays[i].name, &tape::LearnedArray::name) == 1);
    }
  }
}

TEST_CASE("each tensor has a name of its own, and a block's tensors keep their ids") {
  for (const NamedSpec& named : specs_to_test()) {
    const block::Config config = Model(named.spec, kTestMemory).config();
    const tape::Declarations none = net::declare_all(config, {0}),
                             some = net::declare_all(config, {3});
    REQUIRE(none.tensors.size() == some.tensors.size());
    for (std::size_t i = 0; i < some.tensors.size(); ++i) {
      INFO(named.name << ": " << some.tensors[i].name);
      CHECK(none.tensors[i].name == some.tensors[i].name);
      CHECK(std::ranges::count(some.tensors, some.tensors[i].name, &tape::Tensor::name) == 1);
    }
  }
}

}  // namespace
}  // namespace leveret::model
