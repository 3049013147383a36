#include "block/ffm_context.h"

#include <cstring>

#include "block/ffm_rows.h"

namespace leveret::block {
namespace {

/// Of `count` places `stride` apart, the bytes at each, one after the other.
template <std::size_t kBytes>
void gather_fixed(const std::byte* from, const std::uint32_t* slots, std::size_t count,
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
      return gather_fixed<8>(row, slots.data(), count, to, stride);
    case 16:
      return gather_fixed<16>(row, slots.data(), count, to, stride);
    case 32:
      return gather_fixed<32>(row, slots.data(), count, to, stride);
    default:
      for (std::size_t j = 0; j < count; ++j) {
        std::memcpy(to + j * stride, row + slots[j] * bytes, bytes);
      }
  }
}

}  // namespace

std::size_t FfmContext::Context::bytes() const {
  return sizeof *this + x.capacity() * sizeof x[0] + rows.capacity() +
         sums.capacity() * sizeof sums[0] +
         (slots_of_rows.capacity() + slots_of_sums.capacity()) * sizeof slots_of_rows[0];
}

FfmContext::FfmContext(const kernels::Kernels& kernels, const Config& config,
                       const tape::FieldSplit& split, const FfmBlock& block)
    : kernels_(kernels),
      k_(config.find_rows(Rows::Kind::kFfm)->part.k),
      codec_(block.codec_in_place()),
      split_(split),
      block_(block) {
  sums_of_fields_.resize(split_.candidate.size());
  no_sum_.resize(slots() * k_);
}

std::unique_ptr<FfmContext::Context> FfmContext::cache_context(const tape::Tape& tape) const {
  auto context = std::make_unique<Context>();
  context->in_place = tape.ffm.in_place;
  context->as_kernels_see = context->in_place && tape.ffm.at.as_kernels_see();
  context->x.resize(split_.context.size());
  if (context->in_place) {
    gather_rows(tape.ffm.at, *context);
  } else {
    gather_sums(tape.ffm, *context);
  }
  return context;
}

void FfmContext::gather_rows(const tape::FfmInPlace& at, Context& context) const {
  const std::size_t bytes = codec_.bytes(k_);
  const std::size_t stride = bytes * split_.context.size();
  const std::size_t row_bytes = codec_.bytes(k_ * split_.context.size());
  context.rows.resize(split_.candidate.size() * row_bytes);
  context.slots_of_rows.clear();
  for (std::size_t j = 0; j < split_.candidate.size(); ++j) {
    context.slots_of_rows.push_back(context.rows.data() + j * row_bytes);
  }
  std::size_t i = 0;  // of the rows, whose fields ascend, too
  for (std::size_t c = 0; c < split_.context.size(); ++c) {
    while (i < at.rows.size() && at.fields[i] < split_.context[c]) ++i;
    const bool there = i < at.rows.size() && at.fields[i] == split_.context[c];
    const std::byte* const row = there ? at.rows[i] : at.nothing.data();
    context.x[c] = there ? at.x[i] : 0.0f;
    spread_slots(row, bytes, split_.candidate, context.rows.data() + c * bytes, stride);
  }
}

/// Room for the sums, one after the other.
float* FfmContext::room_for_sums(Context& context) const {
  const std::size_t length = split_.context.size() * k_;
  context.sums.resize(split_.candidate.size() * length);
  context.slots_of_sums.clear();
  for (std::size_t j = 0; j < split_.candidate.size(); ++j) {
    context.slots_of_sums.push_back(
        reinterpret_cast<const std::byte*>(context.sums.data() + j * length));
  }
  context.has_sums = true;
  return context.sums.data();
}

void FfmContext::gather_sums(const tape::FfmTape& ffm, Context& context) const {
  const std::size_t bytes = k_ * sizeof(float);
  const std::size_t stride = bytes * split_.context.size();
  std::byte* const to = reinterpret_cast<std::byte*>(room_for_sums(context));
  std::size_t i = 0;
  for (std::size_t c = 0; c < split_.context.size(); ++c) {
    while (i < ffm.fields.size() && ffm.fields[i] < split_.context[c]) ++i;
    const bool there = i < ffm.fields.size() && ffm.fields[i] == split_.context[c];
    const float* const sum = there ? ffm.sums[i] : no_sum_.data();
    spread_slots(reinterpret_cast<const std::byte*>(sum), bytes, split_.candidate, to + c * bytes,
                 stride);
  }
}

/// For a candidate that has several features in a field.
void FfmContext::make_sums_of_rows(Context& context) const {
  const std::size_t length = split_.context.size() * k_;
  float* const all = room_for_sums(context);
  for (std::size_t j = 0; j < split_.candidate.size(); ++j) {
    float* const sums = all + j * length;
    kernels_.decode(codec_, context.slots_of_rows[j], length, sums);
    for (std::size_t c = 0; c < context.x.size() && !context.as_kernels_see; ++c) {
      kernels_.scale(sums + c * k_, k_, context.x[c], sums + c * k_);
    }
  }
}

float FfmContext::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                          float* pairs) {
  const std::size_t n = split_.candidate.size();
  at_.resize(n, block_.row_bytes(parameters, tape));
  const auto place = [&](std::uint32_t field) { return split_.place[field]; };
  const bool in_place =
      context_->in_place &&
      put_rows(tape, b, tape.to_read.rows, block_.row_begin(tape), n, place, at_, at_.to_read)
          .has_value();
  if (!in_place) return pairs_of_sums(parameters, tape, b, *context_, pairs);
  block_.widen(parameters, at_);
  return pairs_in_place(*context_, pairs);
}

float FfmContext::pairs_in_place(const Context& context, float* pairs) {
  const std::size_t n = split_.candidate.size(), in_context = split_.context.size();
  float* const own = pairs + split_.cross();
  const float sum =
      kernels_.ffm_rectangle(codec_, at_.rows.data(), context.slots_of_rows.data(), n,
                             split_.context.data(), in_context, k_, pairs) +
      kernels_.ffm_pairs(codec_, at_.rows.data(), split_.candidate.data(), n, k_, own);
  if (context.as_kernels_see && at_.as_kernels_see()) return sum;
  for (std::size_t j = 0; j < n; ++j) {
    float* const row = pairs + j * in_context;
    for (std::size_t c = 0; c < in_context; ++c) row[c] *= at_.x[j] * context.x[c];
  }
  times_values(at_.x.data(), n, own);
  return kernels_.total(pairs, split_.pairs());
}

float FfmContext::pairs_of_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                                Context& context, float* pairs) {
  if (!context.has_sums) make_sums_of_rows(context);
  block_.gather_sums(parameters, tape, b);
  const tape::FfmTape& ffm = tape.ffm;
  for (const std::byte*& sum : sums_of_fields_) {
    sum = reinterpret_cast<const std::byte*>(no_sum_.data());
  }
  for (std::size_t i = 0; i < ffm.fields.size(); ++i) {
    sums_of_fields_[split_.place[ffm.fields[i]]] = reinterpret_cast<const std::byte*>(ffm.sums[i]);
  }
  const std::size_t n = split_.candidate.size();
  const kernels::Codec floats = kernels::Codec::f32();
  float* const own = pairs + split_.cross();
  float sum =
      kernels_.ffm_rectangle(floats, sums_of_fields_.data(), context.slots_of_sums.data(), n,
                             split_.context.data(), split_.context.size(), k_, pairs) +
      kernels_.ffm_pairs(floats, sums_of_fields_.data(), split_.candidate.data(), n, k_, own);
  for (std::size_t i = 0; i < ffm.present.size(); ++i) {
    if (!ffm.present[i].several) continue;
    const std::size_t j = split_.place[ffm.present[i].field];
    const float within = block_.within(tape, i);
    own[pair_index(j, j)] = within;
    sum += within;
  }
  return sum;
}

}  // namespace leveret::block
