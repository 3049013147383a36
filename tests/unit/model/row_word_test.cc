// Keys whose values are in row words outside of the table get the rows they would get in the index.
#include "model/row_word.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "model/field_table.h"
#include "model/linear_table.h"
#include "random_model.h"

namespace leveret::model {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr RowShape kShape{3, 4, true, 0.25f};

FieldTableOptions with_admit(std::uint32_t admit) {
  FieldTableOptions options;
  options.admit = admit;
  options.seed = 42;
  return options;
}

TEST_CASE("a row word gives back what it was made of, and is a finite number") {
  for (const std::uint32_t field : {0u, 1u, 7u, RowWord::kFields - 1}) {
    for (const std::uint32_t value :
         {1u, 2u, 1000000u, RowWord::kBusy, RowWord::kRefused, RowWord::kRowBit,
          RowWord::kRowBit | 5, RowWord::kRowBit | RowWord::kRows, RowWord::kRowBit | 0x3fffff}) {
      const std::uint32_t word = RowWord::make(field, value);
      INFO("field " << field << ", value " << value);
      CHECK(RowWord::says(word));
      CHECK(RowWord::has_ones(RowWord::with_ones(word)));
      CHECK_FALSE(RowWord::has_ones(word));
      CHECK(RowWord::make(field, value, RowWord::with_ones(1u << 31)) == RowWord::with_ones(word));
      CHECK(std::isfinite(std::bit_cast<float>(RowWord::with_ones(word))));
      CHECK(RowWord::value(RowWord::with_ones(word)) == value);
      CHECK(RowWord::field(word) == field);
      CHECK(RowWord::value(word) == value);
      CHECK(std::isfinite(std::bit_cast<float>(word)));
      const bool row = (value & RowWord::kRowBit) != 0;
      CHECK(RowWord::has_row(word) == row);
      CHECK((RowWord::tag(word) == RowWord::row_tag(field)) == row);
      if (row) CHECK(RowWord::row(word) == (value & ~RowWord::kRowBit));
    }
  }
  CHECK(RowWord::row_tag(RowWord::kFields) != RowWord::tag(RowWord::row_tag(RowWord::kFields)));
  CHECK(RowWord::value(0) == 0);
}

TEST_CASE("with words, keys get the rows that they get without") {
  const std::uint32_t admit = GENERATE(0, 1, 2, 3);
  // The last one takes no words.
  const std::uint32_t field = GENERATE(0, 5, RowWord::kFields - 1, RowWord::kFields);
  MemoryBudget budget(kMemory);
  FieldTable words(field, with_admit(admit), kShape, budget);
  FieldTable index(field, with_admit(admit), kShape, budget);
  constexpr std::uint32_t kKeys = 4000;
  std::vector<std::uint32_t> word(kKeys);
  std::mt19937 random(admit);
  for (int i = 0; i < 30000; ++i) {
    const std::uint32_t at = random() % 3 == 0 ? random() % 50 : random() % kKeys;
    const std::uint32_t key = at * 0x10001u + 1;
    // Some have none, some lose theirs to another field before they are seen.
    if (at % 7 == 1 && word[at] == 0) word[at] = RowWord::make(field + 1, RowWord::kRowBit | 3);
    std::uint32_t* const place = at % 5 == 0 ? nullptr : &word[at];
    REQUIRE(words.find(key, place) == index.find(key));
    REQUIRE(words.touch(key, place) == index.touch(key));
    REQUIRE(words.find(key, place) == index.find(key));
  }
  CHECK(words.rows() == index.rows());
  CHECK(words.shared() == 0);
  std::uint64_t keys = 0;
  for (const std::uint32_t w : word) keys += RowWord::says(w) && RowWord::field(w) == field;
  CHECK(words.keys() + keys == index.keys());
  CHECK((keys == 0) == (field == RowWord::kFields));
}

TEST_CASE("what the index has of a key goes on there") {
  MemoryBudget budget(kMemory);
  FieldTable table(2, with_admit(3), kShape, budget);
  std::uint32_t counted = 0, other = 0;
  CHECK(table.touch(77) == kNoRow);
  CHECK(table.touch(77, &counted) == kNoRow);
  CHECK(table.find(77, &counted) == kNoRow);
  CHECK(table.touch(77, &counted) == 0);
  CHECK(table.find(77, &counted) == 0);
  CHECK(counted == 0);
  CHECK(table.touch(78, &other) == kNoRow);
  CHECK(RowWord::value(other) == 1);
  CHECK(table.keys() == 1);
}

TEST_CASE("what a word said of a key the index says when the word is to say something else") {
  const std::uint32_t admit = GENERATE(1, 3);
  MemoryBudget budget(kMemory);
  FieldTable words(2, with_admit(admit), kShape, budget),
      index(2, with_admit(admit), kShape, budget);
  std::vector<std::uint32_t> word(500);
  std::mt19937 random(admit);
  for (int i = 0; i < 6000; ++i) {
    const std::uint32_t at = random() % 500, key = at * 0x10001u + 1;
    const bool number = random() % 4 == 0;
    if (number) {
      words.leave(key, word[at]);
      if (word[at] == 0) word[at] = RowWord::kNothingYet;
      REQUIRE_FALSE(RowWord::says(word[at]));
      REQUIRE(word[at] != 0);
      if (random() % 2 == 0) word[at] = std::bit_cast<std::uint32_t>(2.5f);
    }
    REQUIRE(words.find(key, &word[at]) == index.find(key));
    REQUIRE(words.touch(key, number ? nullptr : &word[at]) == index.touch(key));
    REQUIRE(words.find(key, &word[at]) == index.find(key));
    if (word[at] == std::bit_cast<std::uint32_t>(2.5f)) REQUIRE(words.has(key));
  }
  CHECK(words.rows() == index.rows());
  std::uint32_t seen = RowWord::make(2, 1), ones = RowWord::with_ones(seen);
  words.leave(5, seen);
  words.leave(6, ones);
  CHECK(seen == RowWord::kNothingYet);
  CHECK(ones == RowWord::kOnlyOnes);
  std::uint32_t busy = RowWord::make(2, RowWord::kBusy);
  words.leave(7, busy);
  CHECK(busy == RowWord::make(2, RowWord::kBusy));
}

/// The words of the keys 1, 2, …, of which the last have found no memory for a row.
std::vector<std::uint32_t> words_of_too_many_keys(FieldTable& table) {
  std::vector<std::uint32_t> word(2000);
  for (std::uint32_t i = 0; i < word.size(); ++i) table.touch(i + 1, &word[i]);
  REQUIRE(table.shared() > 0);
  return word;
}

TEST_CASE("a key that is refused for want of memory gets the shared row, in a word, too") {
  MemoryBudget budget(20000);
  FieldTable table(0, with_admit(1), {16, 4, true, 1}, budget);
  std::vector<std::uint32_t> word = words_of_too_many_keys(table);
  CHECK(table.touch(2000, &word[1999]) == table.shared_row());
  CHECK(table.find(2000, &word[1999]) == table.shared_row());
  CHECK(RowWord::value(word[1999]) == RowWord::kRefused);
  CHECK(table.find(1, &word[0]) == 0);
}

TEST_CASE("what a word has said is kept where memory has run out") {
  MemoryBudget budget(20000);
  FieldTable table(0, with_admit(1), {16, 4, true, 1}, budget);
  std::vector<std::uint32_t> word = words_of_too_many_keys(table);
  const bool concurrent = GENERATE(true, false);
  table.set_concurrent(concurrent);
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < word.size(); ++i) {
    const Row row = table.find(i + 1, &word[i]);
    table.leave(i + 1, word[i]);
    left += !RowWord::says(word[i]);
    REQUIRE(table.find(i + 1, &word[i]) == row);
    REQUIRE(table.touch(i + 1, &word[i]) == row);
  }
  // The index does not grow beside others.
  if (concurrent) CHECK(left < 64);
  if (!concurrent) CHECK(left == word.size());
}

TEST_CASE("keys have their rows in the index when there are too many for words") {
  MemoryBudget budget(std::uint64_t{1} << 30);
  FieldTable table(0, with_admit(2), {1, 1, true, 0.25f}, budget);
  std::uint32_t counted = 0, in_word = 0;
  table.touch(1, &in_word);
  CHECK(table.touch(1, &in_word) == 0);
  table.touch(2, &counted);
  for (std::uint32_t key = 3; table.rows() < RowWord::kRows; ++key) {
    std::uint32_t word = RowWord::make(0, 1);
    table.touch(key, &word);
  }
  CHECK(table.keys() == 0);
  CHECK(table.touch(1, &in_word) == 0);
  CHECK(table.find(2, &counted) == kNoRow);
  CHECK(table.touch(2, &counted) == RowWord::kRows);  // its second sight
  CHECK(table.find(2, &counted) == RowWord::kRows);
  CHECK(RowWord::value(counted) == 1);
  CHECK(table.touch(2, &counted) == RowWord::kRows);
  CHECK(table.keys() == 1);
}

TEST_CASE("rows of keys with words get their first weights in new slots") {
  MemoryBudget budget(kMemory);
  FieldTable grown(0, with_admit(1), kShape, budget);
  RowShape whole = kShape;
  whole.slots = 5;
  FieldTable fresh(0, with_admit(1), whole, budget);
  std::vector<std::uint32_t> word(300);
  std::vector<FieldTable::KeyOfRow> keys;
  for (std::uint32_t i = 0; i < word.size(); ++i) {
    keys.push_back({i * 31 + 1, grown.touch(i * 31 + 1, &word[i])});
    fresh.touch(i * 31 + 1);
  }
  grown.set_slots(5, keys);
  for (Row row = 0; row < word.size(); ++row) {
    REQUIRE(weights_of(grown, row) == weights_of(fresh, row));
  }
}

TEST_CASE("the word of a linear slot goes along when the table grows") {
  MemoryBudget budget(kMemory);
  LinearTable table(0, GENERATE(3, 7), budget);
  for (std::uint32_t key = 1; key <= 5000; ++key) {
    *table.own_word(table.find_or_insert(key), key) = key;
  }
  for (std::uint32_t key = 1; key <= 5000; ++key) {
    REQUIRE(*table.own_word(table.find(key), key) == key);
  }
  CHECK(table.own_word(table.find(1), 2) == nullptr);
  CHECK(table.own_word(table.find_or_insert(0), 0) == nullptr);
}

}  // namespace
}  // namespace leveret::model
