#include "table/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "table/mix.h"

namespace leveret::table {
namespace {

/// A chunk has about so many bytes; a field has half of one to spare on average.
constexpr std::size_t kChunkBytes = std::size_t{32} << 10;

}  // namespace

Rows::Rows(RowLayout layout, std::uint32_t field, std::uint64_t seed, MemoryBudget& budget)
    : field_(field), seed_(seed), layout_(std::move(layout)), budget_(&budget) {
  measure();
}

void Rows::measure() {
  stride_ = static_cast<std::uint32_t>(layout_.stride());
  used_bytes_ = static_cast<std::uint32_t>(layout_.used_bytes());
  weight_bytes_ = static_cast<std::uint32_t>(layout_.weight_bytes());
  const std::size_t rows =
      std::bit_floor(std::max<std::size_t>(kChunkBytes / std::max<std::uint32_t>(stride_, 1), 1));
  shift_ = static_cast<std::uint32_t>(std::countr_zero(rows));
  mask_ = static_cast<std::uint32_t>(rows - 1);
}

Row Rows::make(Key key, bool beyond_limit) {
  if (beyond_limit) {
    budget_->force(stride_);
  } else if (full() || !budget_->take(stride_)) {
    full_.set(1);
    return kNoRow;
  }
  const auto row = static_cast<Row>(size_.add(1));
  if (row >= room() && (concurrent_ || row >= RowRef::kMaxRows || !reserve(0))) {
    size_.add(-1);
    budget_->give_back(stride_);
    return kNoRow;
  }
  for (std::size_t part = 0; part < layout_.parts().size(); ++part) write_first(row, key, part, 0);
  return row;
}

std::vector<Row> Rows::remove(std::vector<Row> removed) {
  const std::uint64_t before = size(), after = before - removed.size();
  std::vector<Row> moved(removed.size());
  std::ranges::sort(removed);
  for (const Row row : removed) {
    if (row >= after) moved[row - after] = kNoRow;
  }
  auto gap = removed.begin();
  for (std::uint64_t row = after; row < before; ++row) {
    if (moved[row - after] == kNoRow) continue;
    moved[row - after] = *gap;
    std::memcpy(at(*gap++), at(static_cast<Row>(row)), stride_);
  }
  size_.set(after);
  budget_->give_back(removed.size() * stride_);
  while (!chunks_.empty() && room() - (mask_ + 1) >= after) {
    budget_->pool().give_back(chunks_.back(), chunk_bytes());
    chunks_.pop_back();
  }
  full_.set(0);
  return moved;
}

bool Rows::reserve(std::uint64_t count) {
  while (room() < size() + count) {
    std::byte* const chunk = budget_->pool().take(chunk_bytes());
    if (chunk == nullptr) {
      full_.set(1);
      return false;
    }
    chunks_.push_back(chunk);
  }
  return true;
}

/// Weights and states of a part's slots from `from_slot` on.
void Rows::write_first(Row row, Key key, std::size_t part, std::uint32_t from_slot) {
  const RowPart& p = layout_.parts()[part];
  const std::uint64_t base =
      mix(seed_ ^ mix((std::uint64_t{part} << 56) ^ (std::uint64_t{field_} << 32) ^ key));
  const float unit = p.init_width * 0x1p-31f;
  std::byte* const to = at(row) + layout_.weights(part).begin;
  std::array<float, 64> weights{};  // some at a time, so that compilers convert several at once
  for (std::uint32_t slot = from_slot; slot < p.slots; ++slot) {
    std::uint64_t random = mix(base + p.slot_name(slot));
    for (std::uint32_t begin = 0; begin < p.k; begin += weights.size()) {
      const auto count = std::min<std::uint32_t>(weights.size(), p.k - begin);
      for (std::uint32_t c = 0; c < count; c += 2) {
        if (begin + c > 0) random = mix(random);
        weights[c] = static_cast<float>(static_cast<std::int32_t>(random)) * unit;
        weights[c + 1] = static_cast<float>(static_cast<std::int32_t>(random >> 32)) * unit;
      }
      if (begin + count > p.used_k) {
        std::fill(weights.begin() + (std::max(p.used_k, begin) - begin), weights.end(), 0.0f);
      }
      kernels::encode_all(p.codec, to, std::size_t{slot} * p.k + begin, weights.data(), count);
    }
  }
  write_first_states(row, part, from_slot);
}

void Rows::write_first_states(Row row, std::size_t part, std::uint32_t from_slot) {
  const RowPart& p = layout_.parts()[part];
  for (std::size_t s = 0; s < p.states.size(); ++s) {
    const RowState& state = p.states[s];
    std::byte* const to = at(row) + layout_.state(part, s).begin;
    std::size_t from = from_slot;
    if (state.per == RowState::Per::kWeight) from *= p.k;
    if (state.per == RowState::Per::kRow && from_slot > 0) continue;
    for (std::size_t i = from; i < p.count(state); ++i) {
      kernels::encode(state.codec, to, i, state.first);
    }
  }
}

void Rows::widen(RowLayout wider, std::span<const KeyOfRow> keys) {
  const auto grows = [&](std::size_t p) {
    return layout_.parts()[p].slots < wider.parts()[p].slots;
  };
  std::vector<std::size_t> growing;
  for (std::size_t p = 0; p < layout_.parts().size(); ++p) {
    if (grows(p)) growing.push_back(p);
  }
  if (growing.empty()) return;
  const std::uint64_t bytes_before = chunk_bytes();
  const std::uint32_t shift = shift_, mask = mask_;
  const RowLayout from = std::exchange(layout_, std::move(wider));
  const std::vector<std::byte*> old = std::exchange(chunks_, {});
  measure();
  budget_->force((layout_.stride() - from.stride()) * size());
  if (!reserve(0)) {
    throw std::runtime_error("out of memory while giving field " + std::to_string(field_) +
                             " one more slot per row; raise --max_memory or name the fields with "
                             "--field");
  }
  for (std::uint64_t r = 0; r < size(); ++r) {
    const std::byte* const row = old[r >> shift] + (r & mask) * from.stride();
    std::byte* const to = at(static_cast<Row>(r));
    const auto copy = [&](const RowLayout::Column& before_it, const RowLayout::Column& now) {
      std::memcpy(to + now.begin, row + before_it.begin, before_it.bytes());
    };
    for (std::size_t p = 0; p < layout_.parts().size(); ++p) {
      copy(from.weights(p), layout_.weights(p));
      for (std::size_t s = 0; s < layout_.parts()[p].states.size(); ++s) {
        copy(from.state(p, s), layout_.state(p, s));
      }
    }
  }
  for (std::byte* const chunk : old) budget_->pool().give_back(chunk, bytes_before);
  for (const std::size_t p : growing) {
    for (const KeyOfRow& of : keys) write_first(of.row, of.key, p, from.parts()[p].slots);
  }
}

void Rows::load_zeros(std::uint64_t count) {
  if (count > RowRef::kMaxRows || !reserve(count)) {
    throw std::runtime_error("has " + std::to_string(count) + " rows of field " +
                             std::to_string(field_) + ", for which there is no memory");
  }
  size_.set(count);
  budget_->force(count * stride_);
}

void Rows::load_mapped(Arena rows) {
  layout_ = layout_.without_gaps();
  measure();
  mapped_ = std::move(rows);
  size_.set(stride_ > 0 ? mapped_.size() / stride_ : 0);
  chunks_.clear();
  for (std::uint64_t at = 0; at < mapped_.size(); at += chunk_bytes()) {
    chunks_.push_back(mapped_.data() + at);
  }
  budget_->force(mapped_.size());
}

}  // namespace leveret::table
