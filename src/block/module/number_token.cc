#include "block/module/number_token.h"

#include <array>

#include "block/dense/layer_back.h"
#include "block/dense/relu.h"

namespace leveret::block {

tape::TensorId NumberToken::declare(const std::string& name, std::uint32_t hidden,
                                    std::uint32_t width, const Config& config,
                                    tape::Declarations& declarations) {
  const auto tensor = [&](const std::string& of, std::uint32_t size) {
    return declarations.add(tape::Tensor{.name = of, .size = size, .gradient = true});
  };
  numbers_ = declarations.read(kNumbers);
  const std::uint32_t numbers = declarations[numbers_.id].size;
  hidden_ = tensor(name + ".hidden", hidden);
  hidden_layer_.declare(name + ".v", numbers_.id, numbers, hidden, 2.0f, config, declarations);
  layer_.declare(name + ".w", hidden_, hidden, width, 1.0f, config, declarations);
  return out_ = tensor(name, width);
}

void NumberToken::forward(const Run& run) const {
  const tape::TensorPlace& hidden = run.tape[hidden_];
  hidden_layer_.forward(run, 1, run.tape[numbers_.id].values, hidden.values);
  relu(hidden.values, run.tape.size * hidden.stride);
  layer_.forward(run, 1, hidden.values, run.tape[out_].values);
}

void NumberToken::backward(const Run& run) const {
  clear_unlearned(run.tape, std::array{hidden_});
  const tape::TensorPlace& hidden = run.tape[hidden_];
  layer_.backward(run, 1, hidden.values, run.tape[out_].gradient, hidden.gradient);
  relu_back(hidden.values, run.tape.size * hidden.stride, hidden.gradient);
  hidden_layer_.backward(run, 1, run.tape[numbers_.id].values, hidden.gradient,
                         run.tape.tensors.d_of_reader(numbers_, run.tape.size));
  run.tape.tensors.add_d_of_reader(numbers_, run.tape.size);
}

}  // namespace leveret::block
