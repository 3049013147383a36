/// FieldTable: looking keys up, counting their sights, and when they get a row.
#include <atomic>
#include <bit>

#include "model/field_table.h"

namespace leveret::model {

struct FieldTable::IndexPlace {
  std::uint64_t* slot;
  std::uint64_t seen;

  std::uint32_t value() const { return value_of(seen); }
  std::uint64_t with(std::uint32_t value) const {
    return word(static_cast<std::uint32_t>(seen), value);
  }
  /// Does nothing, and says so, when another thread has changed it since.
  bool change(std::uint32_t to) {
    return std::atomic_ref(*slot).compare_exchange_strong(seen, with(to),
                                                          std::memory_order_acq_rel);
  }
  void set(std::uint32_t to) { std::atomic_ref(*slot).store(with(to), std::memory_order_release); }
};

struct FieldTable::CellPlace {
  std::uint32_t* at;
  std::uint32_t seen, field;

  std::uint32_t value() const { return RowWord::value(seen); }
  bool change(std::uint32_t to) {
    const std::uint32_t word = RowWord::make(field, to, seen);
    if (!RowWord::change(at, seen, word)) return false;
    seen = word;
    return true;
  }
  void set(std::uint32_t to) {
    while (!change(to)) {  // meanwhile a value of 1 has been learned from
    }
  }
};

/// The row that a value stands for.
Row FieldTable::row_of(std::uint32_t value) const {
  if (has_row(value)) return value & ~kRowBit;
  return value == kRefused ? shared_row() : kNoRow;
}

/// What `touch` would say now to a key that it does not know.
Row FieldTable::row_of_unknown() const {
  const bool no_place = !hashed_ && keys() >= limit_;
  return options_.admit == 1 || no_place ? shared_row() : kNoRow;
}

/// What the index says of a key; 0: nothing.
std::uint32_t FieldTable::indexed(std::uint32_t hash) const {
  std::uint64_t looked_at = 0;
  for (std::uint64_t i = start(hash);; i = next(i)) {
    const std::uint64_t seen = std::atomic_ref(index_[i]).load(std::memory_order_acquire);
    const bool found = hashed_ || static_cast<std::uint32_t>(seen) == hash;
    if (found || value_of(seen) == 0) return value_of(seen);
    if (++looked_at >= most_slots_) return 0;
  }
}

Row FieldTable::find(std::uint32_t hash) const {
  const std::uint32_t value = indexed(hash);
  return value != 0 ? row_of(value) : row_of_unknown();
}

/// `touch` of any key.
Row FieldTable::search(std::uint32_t hash) {
  for (std::uint64_t i = start(hash);;) {
    std::atomic_ref<std::uint64_t> slot(index_[i]);
    std::uint64_t seen = slot.load(std::memory_order_acquire);
    if (value_of(seen) == 0) {
      if (!hashed_ && keys() >= limit_) {
        if (concurrent_ || full() || !grow_index()) return to_shared_row();
        i = start(hash);
        continue;
      }
      // A count of 0 is what `sighted` turns into 1; the word in between is never published.
      if (sights_needed() > 1) {
        if (!slot.compare_exchange_strong(seen, word(hash, 1), std::memory_order_acq_rel)) continue;
        keys_.add(1);
        return kNoRow;
      }
      if (!slot.compare_exchange_strong(seen, word(hash, kBusy), std::memory_order_acq_rel)) {
        continue;
      }
      keys_.add(1);
      const Row row = new_row(hash);
      if (row == kNoRow) {
        slot.store(word(hash, kRefused), std::memory_order_release);
        return to_shared_row();
      }
      slot.store(word(hash, row | kRowBit), std::memory_order_release);
      return row;
    }
    if (hashed_ || static_cast<std::uint32_t>(seen) == hash) {
      return sighted(IndexPlace{&index_[i], seen}, static_cast<std::uint32_t>(seen));
    }
    i = next(i);
  }
}

std::uint32_t FieldTable::sights_needed() const {
  if (options_.admit > 0) return options_.admit;
  const std::uint64_t times = rows() * stride_ / kBytesOfFewSights;
  return 2 + 4 * static_cast<std::uint32_t>(std::bit_width(times));
}

/// One more sight of a key that has its place, or its first.
template <class Place>
Row FieldTable::sighted(Place at, std::uint32_t key) {
  const std::uint32_t value = at.value();
  if (has_row(value)) return value & ~kRowBit;
  if (value == kBusy) return kNoRow;
  if (value + 1 < sights_needed()) {
    at.change(value + 1);  // losing a race here loses one sight, which only delays an admission
    return kNoRow;
  }
  if (!at.change(kBusy)) return kNoRow;
  const Row row = new_row(key);
  at.set(row == kNoRow ? kRefused : row | kRowBit);
  return row == kNoRow ? to_shared_row() : row;
}

/// `touch` of any key with its word, unless that says what row it has. In the index are keys of
/// older files, those whose word another field has taken or says how large values are, and those of
/// too many rows.
Row FieldTable::search(std::uint32_t hash, std::uint32_t& place) {
  const std::uint32_t seen = RowWord::load(&place);
  const bool ours = RowWord::says(seen) && RowWord::field(seen) == field_;
  const bool free = seen == 0 && field_ < RowWord::kFields && !has(hash);
  const std::uint32_t value = RowWord::value(seen);
  const bool room = rows() < RowWord::kRows || (ours && has_row(value));
  if (room && (ours || free)) return sighted(CellPlace{&place, seen, field_}, hash);
  if (ours && value < kRefused) put(hash, value);
  return touch(hash);
}

void FieldTable::leave(std::uint32_t hash, std::uint32_t& place) {
  std::uint32_t seen = RowWord::load(&place);
  const std::uint32_t value = RowWord::value(seen);
  if (!RowWord::says(seen) || value == kBusy || !put(hash, value)) return;
  RowWord::change(&place, seen,
                  RowWord::has_ones(seen) ? RowWord::kOnlyOnes : RowWord::kNothingYet);
}

/// Puts a key into the index with this value, or a key that is there already if this names a row.
/// What is known must not be lost where memory has run out, so the index may grow beyond its limit.
/// False when it cannot.
bool FieldTable::put(std::uint32_t hash, std::uint32_t value) {
  for (std::uint64_t i = start(hash);;) {
    std::atomic_ref<std::uint64_t> slot(index_[i]);
    std::uint64_t seen = slot.load(std::memory_order_acquire);
    if (value_of(seen) == 0) {
      if (keys() >= limit_) {
        if (concurrent_ || !grow_index(true)) return false;
        i = start(hash);
      } else if (slot.compare_exchange_strong(seen, word(hash, value), std::memory_order_acq_rel)) {
        keys_.add(1);
        return true;
      }
    } else if (static_cast<std::uint32_t>(seen) == hash) {
      if (has_row(value)) slot.store(word(hash, value), std::memory_order_release);
      return true;
    } else {
      i = next(i);
    }
  }
}

Row FieldTable::find(std::uint32_t hash, const std::uint32_t* place) const {
  if (place == nullptr) return find(hash);
  const std::uint32_t word = RowWord::load(place);
  if (RowWord::tag(word) == row_tag_) return RowWord::row(word);
  const bool here = RowWord::says(word) && RowWord::field(word) == field_ && !has(hash);
  return here ? row_of(RowWord::value(word)) : find(hash);
}

}  // namespace leveret::model
