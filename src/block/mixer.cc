#include "block/mixer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "block/logistic.h"

namespace leveret::block {

float Mixer::forward(tape::ConstMixerState state, float* heard) const {
  float* const likely = heard + inputs_ + 1;
  float sum = 0;
  for (std::size_t i = 0; i < inputs_; ++i) sum += state.weight[i] * heard[i];
  heard[inputs_] = clamp_score(sum);
  float shares = 0, p = 0;
  for (std::size_t i = 0; i <= inputs_; ++i) {
    const float share = std::exp(state.log_share[i]);
    const float score = heard[i];
    const float unlikely = std::exp(-std::fabs(score));
    const float more_likely = likely[i] = 1.0f / (1.0f + unlikely);
    shares += share;
    p += share * (score > 0 ? more_likely : unlikely * more_likely);
  }
  return clamp_score(logit(std::clamp(p / shares, 1e-7f, 1.0f - 1e-7f)));
}

void Mixer::apply(tape::MixerState state, const float* heard, float label, float importance,
                  float decay) const {
  const float* const likely = heard + inputs_ + 1;
  const float g = logistic_gradient(heard[inputs_], label, importance);
  for (std::size_t i = 0; i <= inputs_; ++i) {
    // The logistic loss: log(1 + exp(-|z|)), and |z| more for who was on the wrong side.
    const float wrong = std::max(-label * heard[i], 0.0f);
    const float loss = wrong - std::log(likely[i]);
    state.log_share[i] = decay * state.log_share[i] - options_.eta * importance * loss;
  }
  tape::bound_shares({state.log_share, inputs_ + 1});
  for (std::size_t i = 0; i < inputs_; ++i) {
    const float d = g * heard[i];
    if (d == 0.0f) continue;
    state.sum[i] += d * d;
    state.weight[i] -= options_.rate * d / std::sqrt(state.sum[i]);
  }
}

tape::MixerDecl declare_mixer_arrays(const std::string& name, std::span<const float> weights,
                                     tape::Declarations& declarations) {
  using table::Learned;
  const std::size_t most = tape::MixerDecl::most_inputs(weights.size());
  float sum = 0;
  for (const float weight : weights) sum += weight;
  std::vector<float> first(most);
  for (std::size_t i = 0; i < weights.size(); ++i) first[i] = weights[i] / sum;

  const auto add = [&](const char* what, Learned kind, tape::Merge merge,
                       std::vector<float> values) {
    tape::LearnedArray array{name + what, kind, merge, {values.size()}};
    array.in_mixers = declarations.mixer_floats;
    declarations.mixer_floats += values.size();
    array.first = [values = std::move(values)](std::uint32_t, std::uint32_t i) {
      return values[i];
    };
    const std::size_t place = array.in_mixers;
    declarations.add(std::move(array));
    return place;
  };
  tape::MixerDecl mixer;
  mixer.weight = add(".weight", Learned::kParameter, tape::Merge::kAdd, std::move(first));
  mixer.sum = add(".sum", Learned::kState, tape::Merge::kAdd,
                  std::vector<float>(most, MixerOptions{}.init_acc));
  mixer.log_share = add(".log_share", Learned::kParameter, tape::Merge::kShares,
                        std::vector<float>(most + 1, 0.0f));
  return mixer;
}

tape::MixerDecl declare_mixer(const std::string& name, std::span<const MixerInput> inputs,
                              tape::Declarations& declarations) {
  std::vector<float> weights;
  for (const MixerInput& input : inputs) weights.push_back(input.weight);
  tape::MixerDecl mixer = declare_mixer_arrays(name, weights, declarations);
  for (const MixerInput& input : inputs) mixer.inputs.push_back(input.score);
  const auto size = static_cast<std::uint32_t>(2 * (inputs.size() + 1));
  mixer.heard = declarations.add(tape::Tensor{.name = name + ".heard", .size = size});
  declarations.mixers.push_back(mixer);
  return mixer;
}

float mix(const tape::Scalars& scalars, const tape::MixerDecl& mixer, tape::Tape& tape,
          std::size_t b) {
  float* const heard = tape[mixer.heard].at(b);
  const tape::TensorId* const heads = mixer.inputs.data();
  const std::size_t inputs = mixer.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) heard[i] = tape[heads[i]].values[b];
  return Mixer(inputs).forward(mixer.state(scalars.mixers.data()), heard);
}

}  // namespace leveret::block
