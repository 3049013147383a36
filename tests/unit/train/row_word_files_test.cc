// Models whose linear cells say which rows features have, in files, and those from before.
#include <catch2/catch.hpp>
#include <cstring>

#include "model/open_addressing.h"
#include "saved_model.h"

namespace leveret::train {
namespace {

model::Spec one_head() {
  model::Spec spec;
  spec.heads = model::Heads::kOne;
  return spec;
}

TEST_CASE("row words that name rows that are not there are refused") {
  SavedModel saved(one_head());
  ModelParts bad = saved.parts();
  ModelParts::Part& slots = bad.part("linear.slots");
  auto* slot = reinterpret_cast<std::uint32_t*>(slots.bytes.data());
  while (slot[3] == 0) slot += 4;
  const std::uint32_t word = GENERATE(model::RowWord::make(1, model::RowWord::kRowBit | 100000),
                                      model::RowWord::make(100, model::RowWord::kRowBit),
                                      model::RowWord::make(1, model::RowWord::kBusy));
  slot[3] = word;
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("row that no field has") != std::string::npos);
}

/// The index of all of the field's keys, as files have it that are older than row words.
std::vector<std::uint64_t> whole_index(const ModelParts::Part& slots, std::uint32_t field) {
  constexpr std::uint64_t kSlots = 4096;
  std::vector<std::uint64_t> index(kSlots);
  for (std::size_t i = 0; i < slots.bytes.size(); i += 16) {
    std::uint32_t slot[4];
    std::memcpy(slot, slots.bytes.data() + i, sizeof slot);
    if (slot[3] == 0 || model::RowWord::field(slot[3]) != field) continue;
    std::uint64_t at = model::home_slot(slot[0], kSlots);
    while (index[at] != 0) at = (at + 1) % kSlots;
    index[at] = std::uint64_t{model::RowWord::value(slot[3])} << 32 | slot[0];
  }
  return index;
}

TEST_CASE("a model whose keys are all in the index, as in older files, says and learns the same") {
  model::Spec spec = one_head();
  spec.admit = GENERATE(1, 3);
  SavedModel saved(spec);
  ModelParts older = saved.parts();
  ModelParts::Part& slots = older.part("linear.slots");
  const TrainRun whole(saved.load());
  for (std::uint32_t f = 0; f < whole.model.fields().size(); ++f) {
    ModelParts::Part& rest = older.part("ffm." + std::to_string(f) + ".rest");
    REQUIRE(whole.model.fields()[f].keys() == 0);
    const std::vector<std::uint64_t> index = whole_index(slots, f);
    rest.name = "ffm." + std::to_string(f) + ".index";
    rest.shape = {index.size()};
    rest.bytes.assign(reinterpret_cast<const std::byte*>(index.data()),
                      reinterpret_cast<const std::byte*>(index.data() + index.size()));
  }
  for (std::size_t i = 12; i < slots.bytes.size(); i += 16) {
    std::fill_n(slots.bytes.begin() + static_cast<std::ptrdiff_t>(i), 4, std::byte{});
  }
  older.write(saved.bad());
  const std::string lines = model::random_lines(60, {}, 5);
  TrainRun a(saved.load()), b(load_model(saved.bad(), LoadFor::kTraining, kTestMemory));
  CHECK(a.predict(lines) == b.predict(lines));
  a.learn(lines);
  b.learn(lines);
  CHECK(a.probabilities() == b.probabilities());
  CHECK(a.predict(lines) == b.predict(lines));
  // What the index knows stays there.
  CHECK(b.model.fields()[0].keys() > 0);
  b.model.for_each_row_word([&](std::uint32_t key, std::uint32_t word) {
    CHECK_FALSE(b.model.fields()[model::RowWord::field(word)].has(key));
  });
  // Written and read again, too.
  save_model(b.model, saved.bad());
  TrainRun c(load_model(saved.bad(), LoadFor::kPrediction, kTestMemory));
  CHECK(a.predict(lines) == c.predict(lines));
}

}  // namespace
}  // namespace leveret::train
