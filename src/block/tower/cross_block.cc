#include "block/tower/cross_block.h"

#include <algorithm>
#include <array>
#include <utility>

#include "block/bound.h"
#include "block/dense/dense_products.h"
#include "block/dense/layer_back.h"
#include "block/tower/make_tower.h"
#include "tape/gradients.h"

namespace leveret::block {
namespace {

constexpr TowerKey kCrossLayers = {"layers", "3", 16, "cross layers"};
constexpr TowerKey kCrossHidden = {"hidden", "none", 8192, "widths of ReLU layers behind them",
                                   true};
constexpr TowerKey kCrossKeys[] = {kCrossLayers, kCrossHidden};
constexpr TowerKey kCrossMatrixKeys[] = {
    {"layers", "2", 16, "cross layers"}, {"rank", "16", 1024, "of their matrices"}, kCrossHidden};

}  // namespace

constinit const TowerKind kCrossTower = {.word = "cross",
                                         .help = "cross layers, as DCN has them",
                                         .keys = kCrossKeys,
                                         .whole_for_candidates = true,
                                         .make = make_tower_with_layers<CrossBlock>};
constinit const TowerKind kCrossMatrixTower = {
    .word = "cross2",
    .help = "cross layers with matrices of low rank, as DCNv2 has them",
    .keys = kCrossMatrixKeys,
    .whole_for_candidates = true,
    .make = make_tower_with_layers<CrossBlock>};

void CrossBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  fields_ = declarations.read(kEmbeddings);
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  const std::uint32_t n = declarations[fields_.id].size;
  back_ =
      declarations.add(tape::Tensor{.name = tower_.name + ".back", .size = n, .whole_lines = true});
  layers_.clear();
  const std::uint32_t count = tower_.number("layers");
  for (std::uint32_t l = 0; l < count; ++l) {
    layers_.push_back(declare_layer(l, l > 0 ? layers_.back().out : fields_.id, declarations));
  }
}

CrossBlock::Layer CrossBlock::declare_layer(std::uint32_t l, tape::TensorId in,
                                            tape::Declarations& declarations) const {
  const std::uint32_t n = declarations[in].size;
  const std::string name = tower_.name + ".cross" + std::to_string(l);
  Layer layer{.in = in, .first = declarations.layers.size()};
  const auto dense = [&](const char* what, tape::TensorId from, std::uint32_t outputs) {
    tape::DenseInit init;
    init.seed = config_.seed;
    init.layer = static_cast<std::uint32_t>(declarations.layers.size());
    init.gain = 1.0f;
    tape::declare_dense(name + what, from, outputs, init, config_.layers_rule, declarations);
  };
  const auto tensor = [&](const char* what, std::uint32_t size) {
    return declarations.add(
        tape::Tensor{.name = name + what, .size = n > 0 ? size : 0, .gradient = true});
  };
  if (has_matrices()) {
    dense(".v", in, rank_);
    layer.middle = tensor(".middle", rank_);
    dense(".u", layer.middle, n);
    layer.y = tensor(".y", n);
  } else {
    dense(".w", in, 1);
    layer.y = tensor(".y", 1);
    tape::LearnedArray bias{name + ".b", table::Learned::kParameter, tape::Merge::kAdd, {n}};
    layer.bias = declarations.weights(std::move(bias), config_.layers_rule);
  }
  const bool last = l + 1 == tower_.number("layers");
  layer.out = declarations.add(tape::Tensor{.name = last ? output_of(tower_) : name + ".out",
                                            .size = n,
                                            .whole_lines = true,
                                            .gradient = true});
  return layer;
}

void CrossBlock::open(const tape::Parameters& parameters, std::size_t, tape::Tape& tape) const {
  for (const Layer& layer : layers_) {
    if (layer.bias != tape::ArrayId::kNone) tape.open_gradient(layer.bias, numbers(parameters));
  }
}

void CrossBlock::finish(const Run& run) const {
  for (const Layer& layer : layers_) {
    products(run.parameters, run.tape, layer, run.begin, run.end);
    for (std::size_t b = run.begin; b < run.end; ++b) multiply(run.parameters, run.tape, layer, b);
  }
}

/// y of a layer.
void CrossBlock::products(const tape::Parameters& parameters, tape::Tape& tape, const Layer& layer,
                          std::size_t begin, std::size_t end) const {
  const DenseProducts products{kernels_, tape.gemm};
  const tape::TensorPlace& in = tape[layer.in];
  float* const first = tape[has_matrices() ? layer.middle : layer.y].at(begin);
  products.forward(parameters.layer(layer.first), in.stride, in.at(begin), end - begin, first);
  if (!has_matrices()) return;
  products.forward(parameters.layer(layer.first + 1), tape[layer.middle].stride, first, end - begin,
                   tape[layer.y].at(begin));
}

void CrossBlock::multiply(const tape::Parameters& parameters, tape::Tape& tape, const Layer& layer,
                          std::size_t b) const {
  const std::size_t n = numbers(parameters);
  const float *const x0 = tape[fields_.id].at(b), *const x = tape[layer.in].at(b),
                     *const y = tape[layer.y].at(b);
  const tape::TensorPlace& made = tape[layer.out];
  float* const out = tape[layer.out].at(b);
  if (has_matrices()) {
    for (std::size_t i = 0; i < n; ++i) out[i] = x0[i] * y[i] + x[i];
  } else {
    const float* const bias = parameters[layer.bias].data();
    for (std::size_t i = 0; i < n; ++i) out[i] = x0[i] * y[0] + bias[i] + x[i];
  }
  bound(kMost, out, n);
  std::fill(out + n, out + made.stride, 0.0f);
}

void CrossBlock::finish_back(const Run& run) const {
  for (const Layer& layer : layers_) {
    clear_unlearned(run.tape, std::array{layer.in, layer.middle, layer.y});
  }
  const std::size_t n = numbers(run.parameters);
  float* const d_fields = run.tape.tensors.d_of_reader(fields_, run.tape.size);
  const std::size_t stride = run.tape[fields_.id].d_stride;
  std::fill_n(d_fields, run.tape.size * stride, 0.0f);
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (layer->bias != tape::ArrayId::kNone) {
      std::fill_n(run.tape.gradient(layer->bias), n, 0.0f);
    }
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      multiply_back(n, run.tape, *layer, b, d_fields + b * stride);
    }
    products_back(run.parameters, run.tape, *layer);
    const bool is_first = layer->in == fields_.id;
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      const float *const d = run.tape[layer->out].d_at(b), *const back = run.tape[back_].at(b);
      float* const to = is_first ? d_fields + b * stride : run.tape[layer->in].d_at(b);
      for (std::size_t i = 0; i < n; ++i) to[i] = (is_first ? to[i] : 0.0f) + d[i] + back[i];
      bound(kMost, to, n);
    }
    if (layer->bias != tape::ArrayId::kNone && run.tape.sink != nullptr) {
      run.tape.sink->array(layer->bias, run.tape.gradient(layer->bias));
    }
  }
  run.tape.tensors.add_d_of_reader(fields_, run.tape.size);
}

/// d y of example b, what it adds to d x_0, and to d b.
void CrossBlock::multiply_back(std::size_t n, tape::Tape& tape, const Layer& layer, std::size_t b,
                               float* d_first) const {
  const float *const x0 = tape[fields_.id].at(b), *const y = tape[layer.y].at(b),
                     *const d = tape[layer.out].d_at(b);
  float* const d_y = tape[layer.y].d_at(b);
  if (has_matrices()) {
    for (std::size_t i = 0; i < n; ++i) {
      d_y[i] = d[i] * x0[i];
      d_first[i] += d[i] * y[i];
    }
    return;
  }
  d_y[0] = kernels_->dot(d, x0, n);
  kernels_->axpy(y[0], d, n, d_first);
  kernels_->axpy(1.0f, d, n, tape.gradient(layer.bias));
}

/// From d y to the tensor back_; hands on the layers.
void CrossBlock::products_back(const tape::Parameters& parameters, tape::Tape& tape,
                               const Layer& layer) const {
  const float* d_out = tape[layer.y].gradient;
  if (has_matrices()) {
    const tape::TensorPlace& middle = tape[layer.middle];
    layer_back(*kernels_, parameters, tape, layer.first + 1, middle, d_out, middle.gradient);
    d_out = middle.gradient;
  }
  layer_back(*kernels_, parameters, tape, layer.first, tape[layer.in], d_out, tape[back_].values);
}

}  // namespace leveret::block
