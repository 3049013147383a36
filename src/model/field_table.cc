#include "model/field_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "model/half.h"
#include "model/hash_mix.h"

namespace leveret::model {
namespace {

/// By half, where the linear table doubles: looking up costs little beside the rows that are found,
/// and slots that stay empty cost as much memory as anywhere. A file may have fewer than the first,
/// and half of one is none.
std::uint64_t next_index_size(std::uint64_t slots) {
  return std::max(slots + slots / 2, FieldTable::kFirstSlots);
}

/// Whether there is a value in an index slot. An object, not a function: the loops over all slots
/// are to contain it.
constexpr auto in_use = [](const std::byte* slot) {
  std::uint64_t word;
  std::memcpy(&word, slot, sizeof word);
  return word >> 32 != 0;
};

[[noreturn]] void damaged(std::uint32_t field, const std::string& what) {
  throw std::runtime_error("the model's table of field " + std::to_string(field) + " " + what +
                           "; the file is damaged");
}

}  // namespace

FieldTable::FieldTable(std::uint32_t field, FieldTableOptions options, RowShape shape,
                       MemoryBudget& budget)
    : field_(field),
      row_tag_(RowWord::row_tag(field)),
      hashed_(options.bits != 0),
      options_(options),
      shape_(shape),
      budget_(&budget),
      row_arena_(budget.limit(), lead()) {
  rows_at_ = row_arena_.data();
  measure();
  const std::uint64_t capacity = hashed_ ? std::uint64_t{1} << options.bits : kFirstSlots;
  const std::uint64_t bytes = index_bytes(capacity);
  budget_->force(bytes);
  Arena index(hashed_ ? bytes : std::max(bytes, std::min(budget.limit(), index_bytes(kMaxSlots))));
  if (!index.resize(bytes)) {
    throw std::runtime_error("not enough memory for an FFM index of " + std::to_string(bytes) +
                             " bytes; use smaller --ffm_bits");
  }
  adopt_index(std::move(index), capacity);
}

void FieldTable::measure() {
  stride_ = static_cast<std::uint32_t>(shape_.stride());
  used_bytes_ = static_cast<std::uint32_t>(shape_.used_bytes());
  weight_bytes_ = static_cast<std::uint32_t>(shape_.weight_bytes());
}

void FieldTable::lend(std::byte* at, Row count) {
  copy_lent_rows();
  std::memcpy(at, rows_at_, std::min<std::uint64_t>(rows(), count) * stride_);
  lent_at_ = at;
  lent_ = count;
}

/// To the room that they have in row_arena_.
void FieldTable::copy_lent_rows() const {
  const std::uint64_t rows = std::min<std::uint64_t>(this->rows(), lent_);
  if (rows > 0) std::memcpy(rows_at_, lent_at_, rows * stride_);
}

const Arena& FieldTable::row_arena() const {
  copy_lent_rows();
  return row_arena_;
}

void FieldTable::adopt_index(Arena arena, std::uint64_t capacity) {
  index_arena_ = std::move(arena);
  index_ = reinterpret_cast<std::uint64_t*>(index_arena_.data());
  set_capacity(capacity);
}

void FieldTable::set_capacity(std::uint64_t capacity) {
  capacity_ = capacity;
  mask_ = static_cast<std::uint32_t>(capacity - 1);
  limit_ = key_limit(capacity);
}

/// A row with its first weights, or kNoRow when memory has run out.
Row FieldTable::new_row(std::uint32_t key) {
  if (full() || !budget_->take(stride_)) {
    full_.set(1);
    return kNoRow;
  }
  const Row row = static_cast<Row>(rows_.add(1));
  if (row >= room_ && (concurrent_ || !make_room(row + 1))) {
    rows_.add(-1);
    budget_->give_back(stride_);
    return kNoRow;
  }
  write_first_weights(row, key, 0);
  return row;
}

/// Sizes the arena for `rows` rows, in steps, so that it is rarely called.
bool FieldTable::make_room(std::uint64_t rows) {
  if (rows <= room_) return true;
  std::uint64_t wanted = std::max<std::uint64_t>(rows, room_ + room_ / 2 + 16);
  for (;; wanted = rows) {
    if (row_arena_.resize(wanted * stride_)) {
      room_ = wanted;
      return true;
    }
    if (wanted == rows) {
      full_.set(1);
      return false;
    }
  }
}

void FieldTable::write_first_weights(Row row, std::uint32_t key, std::uint32_t from_slot) {
  const std::uint64_t base = mix(options_.seed ^ mix((std::uint64_t{field_} << 32) | key));
  const float unit = options_.init_width * 0x1p-31f;
  std::byte* const to = at(row);
  std::array<float, 64> weights;  // some at a time, so that compilers convert several at once
  for (std::uint32_t slot = from_slot; slot < shape_.slots; ++slot) {
    std::uint64_t random = mix(base + slot);
    for (std::uint32_t begin = 0; begin < shape_.k; begin += weights.size()) {
      const std::uint32_t count = std::min<std::uint32_t>(weights.size(), shape_.k - begin);
      for (std::uint32_t c = 0; c < count; c += 2) {
        if (begin + c > 0) random = mix(random);
        weights[c] = static_cast<float>(static_cast<std::int32_t>(random)) * unit;
        weights[c + 1] = static_cast<float>(static_cast<std::int32_t>(random >> 32)) * unit;
      }
      kernels::encode_all(shape_.codec, to, slot * shape_.k + begin, weights.data(), count);
    }
  }
  const std::size_t first = shape_.slice_state ? from_slot : std::size_t{from_slot} * shape_.k;
  for (std::size_t i = first; i < shape_.state(); ++i) set_state(row, i, shape_.first_state);
}

Row FieldTable::to_shared_row() {
  shared_.add(1);
  Row row = shared_row();
  if (row != kNoRow || concurrent_) return row;
  if (!make_room(rows() + std::uint64_t{1})) return kNoRow;
  budget_->force(stride_);
  row = static_cast<Row>(rows_.add(1));
  write_first_weights(row, 0, 0);
  shared_row_.set(row);
  return row;
}

bool FieldTable::has_room(std::uint64_t count) const {
  if (full()) return shared_row() != kNoRow || no_shared_row_;
  return (hashed_ || keys() + count <= limit_) && rows() + count <= room_;
}

void FieldTable::reserve(std::uint64_t count) {
  while (!hashed_ && !full() && keys() + count > limit_ && grow_index()) {
  }
  if (!full()) make_room(rows() + count);
  // Under threads nobody may create the shared row, so it is made as soon as it may be needed.
  if (full() && shared_row() == kNoRow && !no_shared_row_) {
    const bool concurrent = concurrent_;
    concurrent_ = false;
    no_shared_row_ = to_shared_row() == kNoRow;
    shared_.add(-1);
    concurrent_ = concurrent;
  }
}

bool FieldTable::grow_index(bool beyond_limit) {
  const std::uint64_t before = capacity_, after = std::min(next_index_size(before), kMaxSlots);
  const std::uint64_t more = index_bytes(after) - index_bytes(before);
  if (before >= kMaxSlots || (!beyond_limit && !budget_->take(more))) {
    full_.set(1);
    return false;
  }
  if (beyond_limit) budget_->force(more);
  if (!resize_or_move(index_arena_, index_bytes(after))) {
    budget_->give_back(more);
    full_.set(1);
    return false;
  }
  index_ = reinterpret_cast<std::uint64_t*>(index_arena_.data());
  spread_slots<sizeof(std::uint64_t)>(index_arena_.data(), before, after, in_use);
  set_capacity(after);
  return true;
}

void FieldTable::set_slots(std::uint32_t slots, std::span<const KeyOfRow> others) {
  if (slots <= shape_.slots) return;
  copy_lent_rows();
  lent_ = 0;
  const RowShape old = shape_;
  const std::size_t old_stride = stride_;
  shape_.slots = slots;
  measure();
  budget_->force((stride_ - old_stride) * rows());
  room_ = 0;
  if (rows() > 0 && !make_room(rows())) {
    throw std::runtime_error("out of memory while giving field " + std::to_string(field_) +
                             " one more slot per row; raise --max_memory or name the fields with "
                             "--field");
  }
  // In place, last row and its last part first: a new place never reaches below its old one.
  for (std::uint64_t row = rows(); row-- > 0;) {
    std::byte* to = rows_at_ + row * stride_;
    const std::byte* from = rows_at_ + row * old_stride;
    std::memmove(to + shape_.state_begin(), from + old.state_begin(),
                 old.state() * old.state_bytes());
    std::memmove(to, from, old.weight_bytes());
    std::fill(to + shape_.weight_bytes(), to + shape_.state_begin(), std::byte{});
    std::fill(to + shape_.used_bytes(), to + stride_, std::byte{});
  }
  for_each_row([&](std::uint32_t key, Row row) { write_first_weights(row, key, old.slots); });
  for (const KeyOfRow& other : others) write_first_weights(other.row, other.key, old.slots);
  if (shared_row() != kNoRow) write_first_weights(shared_row(), 0, old.slots);
}

/// Brings rows to where they belong, and their accumulators to the size they have.
void FieldTable::move_together(std::uint64_t rows, const StoredRows& stored) {
  const std::size_t bytes_each = stored.float_states ? sizeof(float) : shape_.state_bytes();
  const std::size_t from_state = shape_.state_begin(bytes_each);
  // First row and its first part first: a new place never reaches beyond its old one.
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::byte* const to = rows_at_ + row * stride_;
    const std::byte* const from = rows_at_ + row * stored.stride;
    std::memmove(to, from, weight_bytes_);
    for (std::size_t i = 0; i < shape_.state(); ++i) {
      const std::byte* const at = from + from_state + i * bytes_each;
      if (bytes_each == shape_.state_bytes()) {
        std::memmove(to + shape_.state_begin() + i * bytes_each, at, bytes_each);
      } else {
        float state;
        std::memcpy(&state, at, sizeof state);
        shape_.set_state(to, i, state);
      }
    }
    std::memset(to + used_bytes_, 0, stride_ - used_bytes_);
  }
  if (!row_arena_.resize(rows * stride_)) damaged(field_, "has more rows than there is room for");
}

void FieldTable::convert_halves() {
  for (Row row = 0; row < rows(); ++row) {
    for (std::size_t i = 0; i < shape_.weights(); ++i) {
      std::uint16_t half;
      std::memcpy(&half, at(row) + i * sizeof half, sizeof half);
      set_weight(row, i, half_to_float(half));
    }
  }
}

void FieldTable::load(Arena index, Arena rows_as_stored, const StoredRows& stored, Row shared_row,
                      std::uint64_t shared) {
  const std::uint64_t words = index.size() / sizeof(std::uint64_t);
  if (index.size() % sizeof(std::uint64_t) != 0 || words == 0 || words > kMaxSlots ||
      (hashed_ && words != capacity())) {
    damaged(field_, "has an index of " + std::to_string(index.size()) + " bytes");
  }
  const std::uint64_t bytes = rows_as_stored.size(), rows = bytes / stored.stride;
  if (stored.stride < stride_ || bytes % stored.stride != 0 || rows >= kRowBit) {
    damaged(field_, "has rows of " + std::to_string(bytes) + " bytes");
  }
  budget_->give_back(index_bytes(capacity_));
  adopt_index(std::move(index), words);
  std::uint64_t keys = 0;
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint32_t value = value_of(index_[i]);
    keys += value != 0;
    if (has_row(value) && (value & ~kRowBit) >= rows) damaged(field_, "names a row it has not");
    if (value == kBusy) damaged(field_, "has a half-admitted key");
  }
  if (!hashed_) {
    const auto look_ups =
        check_look_ups<sizeof(std::uint64_t)>(index_arena_.data(), capacity_, in_use);
    if (!look_ups.right) {
      damaged(field_, "has keys where no look-up finds them, or no empty index slot");
    }
    if (index_arena_.is_mapped()) most_slots_ = look_ups.most_slots;
  }
  if (shared_row != kNoRow && shared_row >= rows) damaged(field_, "names a shared row it has not");
  lent_ = 0;
  row_arena_ = std::move(rows_as_stored);
  rows_at_ = row_arena_.data();
  if (stored.stride > stride_ || stored.float_states) move_together(rows, stored);
  rows_.set(rows);
  if (stored.halves) convert_halves();
  room_ = rows;
  keys_.set(keys);
  shared_row_.set(shared_row);
  shared_.set(shared);
  budget_->force(index_bytes(words) + rows * stride_);
}

}  // namespace leveret::model
