// Models whose linear cells say which rows features have, in files, and those from before.
#include <catch2/catch.hpp>
#include <cstring>

#include "model/open_addressing.h"
#include "saved_model.h"

namespace leveret::train {
namespace {

model::Spec with_heads(model::Heads heads) {
  model::Spec spec;
  spec.heads = heads;
  return spec;
}

/// The slots of a linear table in a file, word by word.
struct Slots {
  explicit Slots(ModelParts::Part& part)
      : words(part.shape[1]), all(part.bytes.size() / sizeof(std::uint32_t)), part_(part) {
    std::memcpy(all.data(), part.bytes.data(), part.bytes.size());
  }
  void store() { std::memcpy(part_.bytes.data(), all.data(), part_.bytes.size()); }
  std::size_t size() const { return all.size() / words; }
  std::uint32_t key(std::size_t i) const { return all[i * words]; }
  std::uint32_t& last(std::size_t i) { return all[i * words + words - 1]; }

  std::size_t words;
  std::vector<std::uint32_t> all;

 private:
  ModelParts::Part& part_;
};

TEST_CASE("row words that name rows that are not there are refused") {
  using model::RowWord;
  SavedModel saved(with_heads(GENERATE(model::Heads::kOne, model::Heads::kMixed)));
  ModelParts bad = saved.parts();
  const std::uint32_t word =
      GENERATE(RowWord::make(1, RowWord::kRowBit | 100000), RowWord::make(100, RowWord::kRowBit),
               RowWord::make(1, RowWord::kBusy), RowWord::make(0, 1) - (1u << 22));
  Slots slots(bad.part("linear.slots"));
  std::size_t i = 0;
  while (!RowWord::says(slots.last(i))) ++i;
  slots.last(i) = word;
  slots.store();
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("row that no field has") != std::string::npos);
}

/// The index of all of the field's keys, as files have it that are older than row words.
std::vector<std::uint64_t> whole_index(Slots& slots, const model::FieldTable& rest) {
  constexpr std::uint64_t kSlots = 4096;
  std::vector<std::uint64_t> index(kSlots);
  const auto put = [&](std::uint32_t key, std::uint64_t value) {
    std::uint64_t at = model::home_slot(key, kSlots);
    while (index[at] != 0) at = (at + 1) % kSlots;
    index[at] = value << 32 | key;
  };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::uint32_t word = slots.last(i);
    if (!model::RowWord::says(word) || model::RowWord::field(word) != rest.field()) continue;
    put(slots.key(i), model::RowWord::value(word));
  }
  for (std::uint64_t i = 0; i < rest.capacity(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, rest.index().data() + i * sizeof word, sizeof word);
    if (word != 0) put(static_cast<std::uint32_t>(word), word >> 32);
  }
  return index;
}

TEST_CASE("a model whose keys are all in the index, as in older files, says and learns the same") {
  model::Spec spec = with_heads(GENERATE(model::Heads::kOne, model::Heads::kMixed));
  spec.admit = GENERATE(1, 3);
  SavedModel saved(spec);
  ModelParts older = saved.parts();
  const TrainRun whole(saved.load());
  Slots slots(older.part("linear.slots"));
  for (std::uint32_t f = 0; f < whole.model.fields().size(); ++f) {
    ModelParts::Part& rest = older.part("ffm." + std::to_string(f) + ".rest");
    const std::vector<std::uint64_t> index = whole_index(slots, whole.model.fields()[f]);
    rest.name = "ffm." + std::to_string(f) + ".index";
    rest.shape = {index.size()};
    rest.bytes.assign(reinterpret_cast<const std::byte*>(index.data()),
                      reinterpret_cast<const std::byte*>(index.data() + index.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::uint32_t& word = slots.last(i);
    if (!model::RowWord::says(word)) continue;
    word = model::RowWord::has_ones(word) ? model::RowWord::kOnlyOnes : 0;
  }
  slots.store();
  older.write(saved.bad());
  const std::string lines = model::random_lines(60, {}, 5);
  TrainRun a(saved.load()), b(load_model(saved.bad(), kTestMemory));
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
  TrainRun c(load_model(saved.bad(), kTestMemory, LoadBy::kMapping));
  CHECK(a.predict(lines) == c.predict(lines));
}

}  // namespace
}  // namespace leveret::train
