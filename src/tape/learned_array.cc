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

ArrayId Declarations::weights(LearnedArray array, rules::RulePtr rule, std::string_view name) {
  assert(rule->states().size() <= rules::kMostStates);
  assert(name.empty() || rule->states().size() == 1);
  const ArrayId id = add(std::move(array));
  for (const rules::State& of : rule->states()) {
    const LearnedArray& weights = (*this)[id];
    LearnedArray state{name.empty() ? weights.name + "_" + of.name : std::string(name),
                       table::Learned::kState, of.merge, weights.shape};
    state.owner = weights.owner;
    if (of.per == rules::State::Per::kWeight) {
      state.source = weights.source;
    } else if (state.shape.size() > 1) {
      state.shape.pop_back();
    }
    state.first = [first = of.first](std::uint32_t, std::uint32_t) { return first; };
    const ArrayId added = add(std::move(state));
    arrays[static_cast<std::size_t>(id)].states.push_back(added);
  }
  arrays[static_cast<std::size_t>(id)].rule = std::move(rule);
  return id;
}

std::size_t Declarations::add_totals(const std::string& name, TensorId numbers, bool rests) {
  const std::uint32_t n = (*this)[numbers].size;
  const std::size_t begin = total_doubles;
  const auto array = [&](const char* what, std::vector<std::uint64_t> shape) {
    LearnedArray made{name + what, table::Learned::kStatistic, Merge::kAdd, std::move(shape)};
    made.in_totals = total_doubles;
    total_doubles += made.columns();
    add(std::move(made));
  };
  array(".count", {});
  array(".means", {n});
  array(".squares", {n});
  totals.push_back({name, numbers, begin, n, rests});
  return begin;
}

std::vector<ArrayId> Declarations::with_states(ArrayId id) const {
  std::vector<ArrayId> all{id};
  all.insert(all.end(), (*this)[id].states.begin(), (*this)[id].states.end());
  return all;
}

std::vector<ArrayId> Declarations::weights_beside_layers() const {
  std::vector<ArrayId> ids;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto id = static_cast<ArrayId>(i);
    const bool in_layer = std::ranges::any_of(
        layers, [&](const LayerArrays& of) { return of.weights == id || of.bias == id; });
    if (arrays[i].rule != nullptr && !in_layer) ids.push_back(id);
  }
  return ids;
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
