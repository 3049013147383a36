#include "tape/learned_array.h"

#include <algorithm>
#include <cassert>

namespace leveret::tape {

TensorId Declarations::find_tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  return found != tensors.end() ? static_cast<TensorId>(found - tensors.begin()) : TensorId::kNone;
}

TensorInput Declarations::read(std::string_view name) {
  const TensorId id = find_tensor(name);
  assert(id != TensorId::kNone);
  Tensor& tensor = (*this)[id];
  assert(tensor.gradient_in == TensorId::kNone);
  return {id, tensor.readers++};
}

}  // namespace leveret::tape
