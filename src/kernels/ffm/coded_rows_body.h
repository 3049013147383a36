/// Steps of rows that are decoded for it, and encoded again: those of few bits, those that are
/// rounded to the nearest, and those whose accumulators are not what registers take beside them.
#pragma once

#include "kernels/dense/vector_body.h"
#include "kernels/ffm/ffm_body.h"

namespace leveret::kernels::generic {

constexpr std::size_t kFloatsAtOnce = 512;

constexpr bool steps_by_floats(Codec weights, Codec state, std::size_t k) {
  return !in_registers(weights, state) && k <= kFloatsAtOnce &&
         (weights == Codec::f32() || weights.kind == Codec::Kind::kFixed) &&
         (state == Codec::bf16() || state == Codec::f32());
}

/// The gradient of number c of slot j: delta[j] * t[j * k + c]; without delta (null) t alone.
struct SlotGradients {
  const float* t;
  const float* delta;
  std::size_t slots;
};

template <class Isa, class T>
[[gnu::always_inline]] inline void store_rounded(const float* from, std::size_t count,
                                                 typename IndexNoise<Isa>::Seed noise,
                                                 std::byte* to) {
  IndexRounding<Isa, T> rounded(noise);
  sweep<Isa>(count, [&](std::size_t i, auto lanes) {
    lanes.store(reinterpret_cast<T*>(to) + i, rounded(lanes.load(from + i)));
  });
}

template <class Isa>
[[gnu::always_inline]] inline void encode_by_place(Codec codec, const float* from,
                                                   std::size_t count,
                                                   typename IndexNoise<Isa>::Seed noise,
                                                   std::byte* to) {
  if (codec == Codec::f32()) return store_rounded<Isa, float>(from, count, noise, to);
  if (codec == Codec::bf16()) return store_rounded<Isa, Bf16>(from, count, noise, to);
  encode_codes<Isa>(codec, from, count, IndexNoise<Isa>(noise), to);
}

/// Kernels::ffm_step_row, some slots at a time.
template <class Isa>
[[gnu::flatten]] void step_by_floats(Codec weights, Codec state, std::byte* row, std::byte* accs,
                                     SlotGradients gradients, std::size_t k, StepRule rule,
                                     const RowNoise& noise) {
  alignas(64) float w[kFloatsAtOnce], acc[kFloatsAtOnce], ones[kFloatsAtOnce];
  const std::size_t most = kFloatsAtOnce / k;
  for (std::size_t j = 0; j < gradients.slots; j += most) {
    const std::size_t count = gradients.slots - j < most ? gradients.slots - j : most;
    std::byte* const at = row + weights.bytes(j * k);
    std::byte* const acc_at = accs + state.bytes(j);
    const float* delta = gradients.delta != nullptr ? gradients.delta + j : nullptr;
    if (delta == nullptr) {
      for (std::size_t s = 0; s < count; ++s) ones[s] = 1.0f;
      delta = ones;
    }
    decode<Isa>(weights, at, count * k, w);
    decode<Isa>(state, acc_at, count, acc);
    ffm_update_slice<Isa>(w, acc, gradients.t + j * k, delta, count, k, rule);
    const auto from = [&](std::uint32_t seed, const std::uint32_t* steps, std::size_t first) {
      if (steps != nullptr) return typename IndexNoise<Isa>::Seed{seed, steps + first};
      return typename IndexNoise<Isa>::Seed{seed + static_cast<std::uint32_t>(first) * kNoiseStep,
                                            nullptr};
    };
    encode_by_place<Isa>(weights, w, count * k, from(noise.seed, noise.numbers, j * k), at);
    encode_by_place<Isa>(state, acc, count, from(state_noise(noise.seed), noise.slots, j), acc_at);
  }
}

/// Kernels::step_vectors.
template <class Isa>
void step_vectors_by_floats(Codec weights, Codec state, const VectorSteps& of, std::size_t k,
                            StepRule rule) {
  for (std::size_t i = 0; i < of.n; ++i) {
    step_by_floats<Isa>(weights, state, of.rows[i], of.rows[i] + of.to_state,
                        {of.gradients[i], of.factors + i, 1}, k, rule, {of.noise_of(i)});
  }
}

}  // namespace leveret::kernels::generic
