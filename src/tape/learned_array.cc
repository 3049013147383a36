#include "tape/learned_array.h"

#include <algorithm>
#include <cassert>

namespace leveret::tape {

TensorId Declarations::find_tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  return found != tensors.end() ? static_cast<TensorId>(found - tensors.begin()) : TensorId::kNone;
}

TensorId Declarations::add(HeadDecl head) {
  assert(find_head(head.name) == nullptr);
  head.score = add(
      Tensor{.name = "heads." + head.name, .size = 1, .gradient = head.error != HeadError::kNone});
  if (head.error == HeadError::kJoint) joint.push_back(head.score);
  heads.push_back(std::move(head));
  return heads.back().score;
}

const HeadDecl* Declarations::find_head(std::string_view name) const {
  const auto found = std::ranges::find(heads, name, &HeadDecl::name);
  return found != heads.end() ? &*found : nullptr;
}

ArrayId Declarations::add_adagrad(LearnedArray weights, float rate, std::string sums,
                                  Merge of_sums) {
  LearnedArray state{std::move(sums), table::Learned::kState, of_sums, weights.shape};
  state.owner = weights.owner;
  state.source = weights.source;
  state.first = [](std::uint32_t, std::uint32_t) { return 1.0f; };
  weights.rule = Rule::kAdagrad;
  weights.rate = rate;
  const ArrayId id = add(std::move(weights));
  const ArrayId of = add(std::move(state));
  arrays[static_cast<std::size_t>(id)].sums = of;
  return id;
}

ResidualPlace Declarations::add_residual(std::string_view name, float first_weight, bool instead) {
  assert(!joint.empty());
  const auto last = std::ranges::find(heads, joint.back(), &HeadDecl::score);
  const TensorId before = last->score;
  if (last->name == name) return {before, before};
  if (instead) last->first_weight = HeadDecl::kNotMixed;
  return {before, add(HeadDecl{.name = std::string(name),
                               .error = HeadError::kJoint,
                               .first_weight = first_weight})};
}

TensorInput Declarations::read(std::string_view name) {
  const TensorId id = find_tensor(name);
  assert(id != TensorId::kNone);
  Tensor& tensor = (*this)[id];
  tensor.gradient |= tensor.gradient_if_read;
  tensor.gradient_in = TensorId::kNone;  // which is for one reader
  return {id, tensor.readers++};
}

}  // namespace leveret::tape
