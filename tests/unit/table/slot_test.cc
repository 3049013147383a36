#include "table/slot.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

namespace leveret::table {
namespace {

/// What a RowRef answers, in one word for each question.
struct Answers {
  bool row, made, refused;
  bool operator==(const Answers&) const = default;
};
Answers answers(RowRef ref) { return {ref.has_row(), ref.is_being_made(), ref.is_refused()}; }

const std::vector<RowRef> kStates = {
    RowRef(),
    RowRef().with_occurrences(1),
    RowRef().with_occurrences(RowRef::kMaxRows - 1),
    RowRef().with_row(0),
    RowRef().with_row(RowRef::kMaxRows - 1),
    RowRef().being_made(),
    RowRef().refused(),
};

TEST_CASE("a ref is in one state at a time, and says which") {
  CHECK(answers(RowRef()) == Answers{false, false, false});
  CHECK(RowRef().occurrences() == 0);
  CHECK_FALSE(RowRef().has_largest_value());
  CHECK(RowRef().word() == 0);
  for (const std::uint32_t n : {0u, 1u, 5u, 1u << 26, RowRef::kMaxRows - 1}) {
    for (const RowRef before : kStates) {
      CHECK(answers(before.with_occurrences(n)) == Answers{false, false, false});
      CHECK(before.with_occurrences(n).occurrences() == n);
      CHECK(answers(before.with_row(n)) == Answers{true, false, false});
      CHECK(before.with_row(n).row() == n);
    }
  }
  for (const RowRef before : kStates) {
    CHECK(answers(before.being_made()) == Answers{false, true, false});
    CHECK(answers(before.refused()) == Answers{false, false, true});
  }
}

TEST_CASE("all changes keep the bit of the largest value, and the bit changes nothing else") {
  for (const RowRef ref : kStates) {
    const RowRef with = ref.with_largest_value();
    CHECK_FALSE(ref.has_largest_value());
    CHECK(with.has_largest_value());
    CHECK_FALSE(with == ref);
    CHECK(answers(with) == answers(ref));
    if (ref.has_row()) CHECK(with.row() == ref.row());
    if (answers(ref) == Answers{false, false, false}) {
      CHECK(with.occurrences() == ref.occurrences());
    }
    for (const RowRef after : {with.with_row(3), with.with_occurrences(3), with.being_made(),
                               with.refused(), with.with_largest_value()}) {
      CHECK(after.has_largest_value());
    }
    for (const RowRef after :
         {ref.with_row(3), ref.with_occurrences(3), ref.being_made(), ref.refused()}) {
      CHECK_FALSE(after.has_largest_value());
    }
  }
}

TEST_CASE("a ref survives its word") {
  for (const RowRef ref : kStates) {
    CHECK(RowRef::from_word(ref.word()) == ref);
    CHECK(RowRef::from_word(ref.with_largest_value().word()) == ref.with_largest_value());
  }
  // Files have these.
  CHECK(RowRef().with_row(5).word() == 0x80000005u);
  CHECK(RowRef().with_occurrences(5).word() == 5);
  CHECK(RowRef().with_occurrences(5).with_largest_value().word() == 0x40000005u);
  CHECK(RowRef().being_made().word() == 0x07ffffffu);
  CHECK(RowRef().refused().word() == 0x07fffffeu);
  CHECK(RowRef().used(3).word() == 0x18000000u);
}

TEST_CASE("a ref knows how many ticks ago it was used, and all changes keep that") {
  for (const RowRef ref : kStates) {
    CHECK(ref.used_at() == 0);
    for (unsigned clock = 0; clock < 9; ++clock) {
      const RowRef used = ref.used(clock);
      CHECK(answers(used) == answers(ref));
      CHECK(used.with_largest_value().used(0) == ref.with_largest_value());
      for (unsigned later = 0; later < RowRef::kAges; ++later) {
        CHECK(used.age(clock + later) == later);
        CHECK(used.used(clock + later).age(clock + later) == 0);
        for (const RowRef after : {used.with_row(3), used.with_occurrences(3), used.being_made(),
                                   used.refused(), used.with_largest_value(), used.learned()}) {
          CHECK(after.age(clock + later) == later);
        }
      }
      RowRef touched = used;
      touch(touched, clock + 2);
      CHECK(touched == ref.used(clock + 2));
    }
  }
}

TEST_CASE("a ref changes where it is still what was seen") {
  RowRef ref = RowRef().with_occurrences(1), seen;
  CHECK_FALSE(change(ref, seen, RowRef().with_row(7)));
  CHECK(seen == RowRef().with_occurrences(1));
  CHECK(load(ref) == seen);
  CHECK(change(ref, seen, RowRef().with_row(7)));
  CHECK(load(ref) == RowRef().with_row(7));
}

TEST_CASE("the hash 0 borrows a key, all others are theirs") {
  CHECK(key_of(0) != kNoKey);
  for (const std::uint32_t hash : {1u, 2u, 0x9e3779b9u, 0xffffffffu}) CHECK(key_of(hash) == hash);
}

template <class C>
void check_cell(CellKind kind) {
  SlotWith<C> slot{};
  CHECK(cell_bytes(kind) == sizeof(C));
  CHECK(slot_bytes(kind) >= sizeof slot);
  CHECK(slot_bytes(kind) < 2 * sizeof slot);
  CHECK(static_cast<void*>(cell_of(&slot)) == static_cast<void*>(&slot.cell));
  CHECK(reinterpret_cast<std::byte*>(cell_of(&slot)) ==
        reinterpret_cast<std::byte*>(&slot) + sizeof(Slot));
}

TEST_CASE("slots are powers of two, with the cell behind key and ref") {
  CHECK(sizeof(Slot) == 8);
  CHECK(offsetof(Slot, key) == 0);
  check_cell<Cell>(CellKind::kAdagrad);
  check_cell<FtrlCell>(CellKind::kFtrl);
  check_cell<MixedCell>(CellKind::kMixed);
  CHECK(slot_bytes(CellKind::kNone) == 8);
  CHECK(slot_bytes(CellKind::kAdagrad) == 16);
  CHECK(slot_bytes(CellKind::kFtrl) == 32);
  CHECK(slot_bytes(CellKind::kMixed) == 32);
  CHECK(cell_floats(CellKind::kNone) == 0);
  CHECK(cell_floats(CellKind::kAdagrad) == 2);
  CHECK(cell_floats(CellKind::kFtrl) == 3);
  CHECK(cell_floats(CellKind::kMixed) == 6);
}

}  // namespace
}  // namespace leveret::table
