#include "ffm/context_pairs.h"

#include <cstring>

#include "ffm/pair_index.h"

namespace leveret::ffm {
namespace {

/// spread_slots, of slots of kBytes.
template <std::size_t kBytes>
void spread_fixed(const std::byte* from, const std::uint32_t* slots, std::size_t count,
                  std::byte* to, std::size_t stride) {
  for (std::size_t j = 0; j < count; ++j) {
    std::memcpy(to + j * stride, from + slots[j] * kBytes, kBytes);
  }
}

/// Slots of a row, each of `bytes`, to places `stride` apart.
void spread_slots(const std::byte* row, std::size_t bytes, const std::vector<std::uint32_t>& slots,
                  std::byte* to, std::size_t stride) {
  const std::size_t count = slots.size();
  switch (bytes) {  // as many bytes as are known beforehand are one instruction or two
    case 8:
      return spread_fixed<8>(row, slots.data(), count, to, stride);
    case 16:
      return spread_fixed<16>(row, slots.data(), count, to, stride);
    case 32:
      return spread_fixed<32>(row, slots.data(), count, to, stride);
    default:
      for (std::size_t j = 0; j < count; ++j) {
        std::memcpy(to + j * stride, row + slots[j] * bytes, bytes);
      }
  }
}

/// Room for `length` numbers for each of `fields` fields.
void open(ContextSlots::Slots& slots, kernels::Codec codec, std::size_t fields,
          std::size_t length) {
  slots.codec = codec;
  const std::size_t bytes = codec.bytes(length);
  slots.size = fields * bytes;
  slots.bytes = std::make_unique_for_overwrite<std::byte[]>(slots.size);
  for (std::size_t j = 0; j < fields; ++j) slots.of_field.push_back(slots.bytes.get() + j * bytes);
}

}  // namespace

ContextSlots::ContextSlots(const kernels::Kernels& kernels, std::size_t k,
                           const tape::FieldSplit& split, const ExampleRows& at)
    : kernels_(&kernels),
      k_(k),
      stored_(at.stored),
      as_kernels_see_(at.as_kernels_see()),
      x_(split.context.size()) {
  open(of_rows_, at.codec, split.candidate.size(), split.context.size() * k);
  const std::size_t bytes = at.codec.bytes(k), stride = bytes * split.context.size();
  std::size_t i = 0;  // of the rows, whose fields ascend, too
  for (std::size_t c = 0; c < split.context.size(); ++c) {
    while (i < at.rows.size() && at.fields[i] < split.context[c]) ++i;
    const bool there = i < at.rows.size() && at.fields[i] == split.context[c];
    x_[c] = there ? at.x[i] : 0.0f;
    spread_slots(there ? at.rows[i] : at.nothing.data(), bytes, split.candidate,
                 of_rows_.bytes.get() + c * bytes, stride);
  }
}

const ContextSlots::Slots& ContextSlots::slots(bool for_stored) {
  if (!stored_ || for_stored) return of_rows_;
  if (of_sums_.of_field.empty()) make_sums();
  return of_sums_;
}

void ContextSlots::make_sums() {
  const std::size_t length = x_.size() * k_;
  open(of_sums_, kernels::Codec::f32(), of_rows_.of_field.size(), length);
  for (std::size_t j = 0; j < of_rows_.of_field.size(); ++j) {
    float* const sums = reinterpret_cast<float*>(of_sums_.bytes.get()) + j * length;
    kernels_->decode(of_rows_.codec, of_rows_.of_field[j], length, sums);
    for (std::size_t c = 0; c < x_.size(); ++c) {
      kernels_->scale(sums + c * k_, k_, x_[c], sums + c * k_);
    }
  }
}

std::size_t ContextSlots::bytes() const {
  std::size_t all = sizeof *this + x_.capacity() * sizeof x_[0];
  for (const Slots* slots : {&of_rows_, &of_sums_}) {
    all += slots->size + slots->of_field.capacity() * sizeof slots->of_field[0];
  }
  return all;
}

ContextPairs::ContextPairs(const kernels::Kernels& kernels, std::size_t k,
                           const tape::FieldSplit& split)
    : PairSet(kernels, k,
              {.n = split.candidate.size(),
               .of_field = split.place.data(),
               .most_slots = split.place.size()}),
      split_(split) {
  static_assert(tape::FieldSplit::kContext == Places::kNone);
}

float ContextPairs::multiply(const ExampleRows& at, float* room) const {
  const std::size_t n = split_.candidate.size(), in_context = split_.context.size();
  const ContextSlots::Slots& slots = context_->slots(at.stored);
  float* const own = room + split_.cross();
  const float sum =
      kernels_->ffm_rectangle(at.codec, at.rows.data(), slots.of_field.data(), n,
                              split_.context.data(), in_context, k_, room) +
      kernels_->ffm_pairs(at.codec, at.rows.data(), split_.candidate.data(), n, k_, own);
  if (!at.stored || (context_->as_kernels_see() && at.as_kernels_see())) return sum;
  for (std::size_t j = 0; j < n; ++j) {
    float* const row = room + j * in_context;
    for (std::size_t c = 0; c < in_context; ++c) row[c] *= at.x[j] * context_->x()[c];
  }
  times_values(at.x.data(), n, own);
  return kernels_->total(room, split_.pairs());
}

std::optional<PairSet::Own> ContextPairs::own(const ExampleRows&, std::size_t place) const {
  const std::size_t pair = split_.cross() + pair_index(place, place);
  return Own{split_.candidate[place], pair, pair};
}

}  // namespace leveret::ffm
