// Whoever adds a block adds a model to the list that tests go through.
#include "specs_to_test.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "net/make_blocks.h"
#include "random_model.h"
#include "spec/entries.h"
#include "spec/tower_text.h"

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

/// What a spec has that the default has not: options that differ, with their values where these
/// choose between pieces of code, and towers by kind.
std::set<std::string> marks(const Spec& spec) {
  static const std::set<std::string> by_value = {"row_bits",  "state_bits",          "heads",
                                                 "optimizer", "per_example_updates", "pool"};
  std::set<std::string> found;
  for (const spec::SpecEntry& entry : spec::spec_entries()) {
    const std::string text = entry.get(spec);
    if (text == entry.get(Spec())) continue;
    found.insert(by_value.contains(entry.name) ? entry.name + ("=" + text) : entry.name);
  }
  for (const spec::TowerSpec& tower : spec.more_towers) {
    std::string word = std::string("tower ") + tower.kind->word + " over";
    for (const std::string& in : tower.in) word += " " + in;
    found.insert(word);
    if (tower.own_loss) found.insert(word + " with a loss of its own");
    for (const block::TowerOption& option : tower.options) {
      if (option.key == "hidden" && !option.numbers.empty()) found.insert(word + " with layers");
    }
  }
  const std::string heads = spec.mixed() ? ", heads mixed" : ", heads one";
  for (const spec::RowsSpec& rows : spec.row_parts()) {
    const std::string kind = "rows of kind " + std::to_string(static_cast<int>(rows.kind));
    found.insert(kind + heads);
    if (spec.batch_size > 1) found.insert(kind + " in batches");
  }
  if (spec.batch_size > 1) found.insert("batches" + heads);
  if (spec.linear.rule == rules::kFtrl) found.insert("linear weights by FTRL" + heads);
  if (spec.bit_precision != 0) found.insert("hashed linear weights" + heads);
  return found;
}

TEST_CASE("the few models of every change have all that the others have") {
  std::set<std::string> few;
  for (const NamedSpec& named : specs_to_test(Which::kFew)) few.merge(marks(named.spec));
  for (const NamedSpec& named : specs_to_test(Which::kAll)) {
    for (const std::string& mark : marks(named.spec)) {
      INFO("\"" << named.name << "\" alone has: " << mark);
      CHECK(few.contains(mark));
    }
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
