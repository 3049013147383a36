#include "tape/tensors.h"

#include "kernels/kernels.h"

namespace leveret::tape {
namespace {

constexpr std::size_t kSpare = kernels::Kernels::kSpare;

void at_least(table::AlignedFloats& floats, std::size_t size) {
  if (floats.size() < size + kSpare) floats.resize(size + kSpare);
}

/// Gives tensors whose gradients lie in others' their places there.
void lend_gradients(const Declarations& declared, std::vector<TensorPlace>& places) {
  for (std::size_t i = 0; i < declared.tensors.size(); ++i) {
    const TensorId in = declared.tensors[i].gradient_in;
    if (in == TensorId::kNone) continue;
    const TensorPlace& from = places[static_cast<std::size_t>(in)];
    places[i].gradient = from.gradient;
    places[i].d_stride = from.d_stride;
  }
}

}  // namespace

void Tensors::make_room(const Tensor& tensor, std::size_t examples, Store& store,
                        TensorPlace& place) {
  const std::size_t stride = tensor.stride();
  if (tensor.only_if_read && tensor.readers == 0) {
    place = {nullptr, nullptr, stride, stride, 0};
    return;
  }
  const std::size_t floats = tensor.per == Tensor::Per::kBatch ? stride : examples * stride;
  at_least(store.values, floats);
  place = {store.values.data(), nullptr, stride, stride, tensor.readers};
  if (!tensor.gradient) return;
  at_least(store.gradient, floats);
  place.gradient = store.gradient.data();
}

void Tensors::open(const Declarations& declared, std::size_t examples) {
  opened_ = nullptr;
  const std::vector<Tensor>& tensors = declared.tensors;
  stores_.resize(tensors.size());
  places_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    make_room(tensors[i], examples, stores_[i], places_[i]);
  }
  lend_gradients(declared, places_);
}

void Tensors::open_in(Tensors& all, const Declarations& declared, std::size_t b) {
  opened_ = nullptr;
  const std::vector<Tensor>& tensors = declared.tensors;
  stores_.resize(tensors.size());
  places_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].per == Tensor::Per::kBatch) {
      make_room(tensors[i], 1, stores_[i], places_[i]);
      continue;
    }
    TensorPlace& place = places_[i] = all.places_[i];
    if (place.values != nullptr) place.values = place.at(b);
    if (place.gradient != nullptr) place.gradient = place.d_at(b);
  }
}

void Tensors::open_partition(Tensors& all, const Declarations& declared, std::size_t examples) {
  opened_ = nullptr;
  const std::vector<Tensor>& tensors = declared.tensors;
  stores_.resize(tensors.size());
  places_.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].owner == Owner::Kind::kAll) {
      places_[i] = all.places_[i];
    } else {
      make_room(tensors[i], examples, stores_[i], places_[i]);
    }
  }
}

float* Tensors::d_of_reader(const TensorInput& input, std::size_t examples) {
  TensorPlace& place = (*this)[input.id];
  if (comes_first(input)) return place.gradient;
  at_least(of_reader_, examples * place.d_stride);
  return of_reader_.data();
}

void Tensors::add_d_of_reader(const TensorInput& input, std::size_t examples) {
  if (comes_first(input)) return;
  TensorPlace& place = (*this)[input.id];
  const std::size_t floats = examples * place.d_stride;
  for (std::size_t i = 0; i < floats; ++i) place.gradient[i] += of_reader_[i];
}

}  // namespace leveret::tape
