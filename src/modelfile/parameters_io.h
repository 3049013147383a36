/// What is learned beside the tables, as named arrays: one list for who saves, who loads, and who
/// looks for numbers that have gone wrong.
#pragma once

#include <array>
#include <string>
#include <type_traits>

#include "block/parameters.h"
#include "modelfile/columns.h"
#include "modelfile/section_names.h"
#include "store/section.h"

namespace leveret::modelfile {

/// An array of floats or doubles that lies in pieces of equal length.
template <class T>
struct ParameterArray {
  std::string name;
  table::Learned kind;
  Shape shape;
  T* first;
  std::size_t piece;  ///< numbers
  std::size_t step;   ///< numbers from one piece to the next

  static constexpr store::Dtype kDtype = sizeof(T) == 4 ? store::Dtype::kF32 : store::Dtype::kF64;
  std::size_t pieces() const {
    std::size_t count = 1;
    for (const std::uint64_t n : shape) count *= n;
    return count / piece;
  }
};

/// Calls visit(array) for every one of them. `parameters` may be const.
template <class Parameters, class Visit>
void for_each_array(Parameters& parameters, Visit visit) {
  using table::Learned;
  using Float = std::conditional_t<std::is_const_v<Parameters>, const float, float>;
  using Double = std::conditional_t<std::is_const_v<Parameters>, const double, double>;
  auto& scalars = parameters.scalars;
  const auto number = [&](const char* name, Learned kind, Float& value) {
    visit(ParameterArray<Float>{name, kind, {}, &value, 1, 1});
  };
  visit(ParameterArray<Double>{"base_rate.clicks", Learned::kStatistic, {}, &scalars.clicks, 1, 1});
  visit(ParameterArray<Double>{"base_rate.count", Learned::kStatistic, {}, &scalars.count, 1, 1});
  number("constant.weight", Learned::kParameter, scalars.bias);
  number("constant.sum", Learned::kState, scalars.bias_sum);
  number("constant.weight2", Learned::kParameter, scalars.bias2);
  number("constant.fast", Learned::kParameter, scalars.fast_bias);
  const auto list = [&](const std::string& name, Learned kind, auto& values) {
    visit(ParameterArray<Float>{name, kind, {values.size()}, values.data(), values.size(), 0});
  };
  const auto mixer = [&](const std::string& name, auto& state) {
    list(name + ".weight", Learned::kParameter, state.weight);
    list(name + ".sum", Learned::kState, state.sum);
    list(name + ".log_share", Learned::kParameter, state.log_share);
  };
  mixer("first_mixer", scalars.first);
  mixer("second_mixer", scalars.second);
  // A weight and its sum for each group.
  if (auto& groups = parameters.group_weights; !groups.empty()) {
    const Shape shape{groups.size() / 2};
    visit(ParameterArray<Float>{"groups.weight", Learned::kParameter, shape, &groups[0], 1, 2});
    visit(ParameterArray<Float>{"groups.sum", Learned::kState, shape, &groups[1], 1, 2});
  }
  for (std::size_t l = 0; l < parameters.layers.size(); ++l) {
    auto& layer = parameters.layers[l];
    const auto add = [&](const char* what, Learned kind, auto& values, std::size_t inputs) {
      if (values.empty()) return;
      const std::size_t step = inputs > 0 ? layer.stride() : 0;
      Shape shape{layer.outputs};
      if (inputs > 0) shape.push_back(inputs);
      visit(ParameterArray<Float>{dense_name(l, what), kind, shape, values.data(),
                                  inputs > 0 ? inputs : values.size(), step});
    };
    add("weights", Learned::kParameter, layer.weights, layer.inputs);
    add("bias", Learned::kParameter, layer.bias, 0);
    add("weights_state", Learned::kState, layer.weights_state, layer.inputs);
    add("bias_state", Learned::kState, layer.bias_state, 0);
    add("weights_moment", Learned::kState, layer.weights_moment, layer.inputs);
    add("bias_moment", Learned::kState, layer.bias_moment, 0);
  }
}

}  // namespace leveret::modelfile
