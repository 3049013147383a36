#include "modelfile/scalars_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "modelfile/finite.h"

namespace leveret::modelfile {

using Json = nlohmann::ordered_json;
using block::Scalars;

namespace {

Json mixer_to_json(const block::MixerState& state) {
  return {{"weight", state.weight}, {"sum", state.sum}, {"log_share", state.log_share}};
}

block::MixerState mixer_from_json(const Json& json) {
  block::MixerState state;
  json.at("weight").get_to(state.weight);
  json.at("sum").get_to(state.sum);
  json.at("log_share").get_to(state.log_share);
  return state;
}

}  // namespace

Json to_json(const Scalars& s) {
  return {{"clicks", s.clicks},
          {"count", s.count},
          {"bias", {s.bias, s.bias_sum, s.bias2, s.bias2_sum}},
          {"first_mixer", mixer_to_json(s.first)},
          {"second_mixer", mixer_to_json(s.second)},
          {"examples", s.examples},
          {"dropped_gradients", s.dropped_gradients},
          {"adam_steps", s.adam_steps}};
}

Scalars scalars_from_json(const Json& json) {
  Scalars s;
  json.at("clicks").get_to(s.clicks);
  json.at("count").get_to(s.count);
  const auto bias = json.at("bias").get<std::array<float, 4>>();
  s.bias = bias[0];
  s.bias_sum = bias[1];
  s.bias2 = bias[2];
  s.bias2_sum = bias[3];
  s.first = mixer_from_json(json.at("first_mixer"));
  s.second = mixer_from_json(json.at("second_mixer"));
  json.at("examples").get_to(s.examples);
  json.at("dropped_gradients").get_to(s.dropped_gradients);
  json.at("adam_steps").get_to(s.adam_steps);
  if (count_non_finite(s) > 0 || !(s.clicks > 0 && s.clicks < s.count)) {
    throw std::runtime_error("has a state with impossible numbers; the file is damaged");
  }
  return s;
}

}  // namespace leveret::modelfile
