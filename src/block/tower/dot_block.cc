#include "block/tower/dot_block.h"

#include <algorithm>
#include <array>

#include "block/bound.h"
#include "block/dense/layer_back.h"
#include "block/dense/pair_products.h"
#include "block/tower/make_tower.h"

namespace leveret::block {
namespace {

constexpr const char* kKeep[] = {"embeddings", "products"};
constexpr TowerKey kDotKeys[] = {
    {"keep", "embeddings", 1, "embeddings, too, beside the products; or the products alone",
     /*is_list=*/false, kKeep},
    {"hidden", "64+32", 8192, "widths of ReLU layers over them", /*is_list=*/true}};

}  // namespace

constinit const TowerKind kDotTower = {
    .word = "dot",
    .help = "inner products of fields and layers over them, as IPNN and DLRM have",
    .keys = kDotKeys,
    .whole_for_candidates = true,
    .chooses_fields = true,
    .takes_numbers = true,
    .make = make_tower_with_layers<DotBlock>};

std::size_t DotBlock::Shape::size(std::uint32_t fields) const {
  if (fields == 0) return 0;
  // Layers read something where there are fields: 0.
  return std::max<std::size_t>(kept(fields) + pair_count(vectors(fields)), 1);
}

/// The place that a number of what it makes had when there were fewer fields.
std::uint32_t DotBlock::place_before(const Shape& shape, const tape::Extent& from,
                                     const tape::Extent& to, std::uint32_t column) {
  if (from.fields == 0) return tape::kNewColumn;
  const std::uint32_t own = shape.kept(to.fields), own_before = shape.kept(from.fields);
  if (column < own) return column < own_before ? column : tape::kNewColumn;
  const std::uint32_t product = column - own;
  const bool is_old = product < pair_count(shape.vectors(from.fields));
  return is_old ? own_before + product : tape::kNewColumn;
}

void DotBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  shape_ = {tower_.reads(kNumbers) ? d_ : 0, tower_.number("keep") == 0 ? d_ : 0,
            static_cast<std::uint32_t>(tower_.fields.size())};
  if (shape_.has_tokens()) {
    vectors_ = tokens_.declare(tower_, NumberToken::kUsualHidden, config_, layout, declarations).id;
  } else {
    fields_ = declarations.read(kEmbeddings);
    vectors_ = fields_.id;
  }
  scratch_ = declarations.add(tape::Tensor{
      .name = tower_.name + ".scratch",
      .per = tape::Tensor::Per::kBatch,
      .size = static_cast<std::uint32_t>(pair_scratch(shape_.vectors(layout.fields), d_))});
  out_ = declarations.add(
      tape::Tensor{.name = output_of(tower_),
                   .size = static_cast<std::uint32_t>(shape_.size(layout.fields)),
                   .whole_lines = true,
                   .gradient = true,
                   .source = [shape = shape_](const tape::Extent& from, const tape::Extent& to,
                                              std::uint32_t column) {
                     return place_before(shape, from, to, column);
                   }});
}

void DotBlock::finish(const Run& run) const {
  if (shape_.has_tokens()) tokens_.put(run);
  const std::uint32_t fields = run.parameters.layout.fields;
  const std::size_t count = shape_.vectors(fields), kept = shape_.kept(fields);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const x = run.tape[vectors_].at(b);
    float* const begin = run.tape[out_].at(b);
    std::copy_n(x, kept, begin);
    pair_products(*kernels_, x, count, d_, begin + kept, run.tape[scratch_].values);
    const std::size_t size = kept + pair_count(count);
    bound(kMost, begin, size);
    std::fill(begin + size, begin + run.tape[out_].stride, 0.0f);
  }
}

void DotBlock::finish_back(const Run& run) const {
  const std::uint32_t fields = run.parameters.layout.fields;
  const std::size_t count = shape_.vectors(fields), kept = shape_.kept(fields);
  clear_unlearned(run.tape, std::array{out_});
  const bool has_tokens = shape_.has_tokens();
  const tape::TensorPlace& vectors = run.tape[vectors_];
  float* const d_vectors =
      has_tokens ? vectors.gradient : run.tape.tensors.d_of_reader(fields_, run.tape.size);
  std::fill_n(d_vectors, run.tape.size * vectors.d_stride, 0.0f);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float* const d_made = run.tape[out_].d_at(b);
    float* const d_x = d_vectors + b * vectors.d_stride;
    std::copy_n(d_made, kept, d_x);
    pair_products_back(*kernels_, vectors.at(b), count, d_, d_made + kept, d_x,
                       run.tape[scratch_].values);
    bound(kMost, d_x, count * d_);
  }
  if (has_tokens) {
    tokens_.hand_back(run);
  } else {
    run.tape.tensors.add_d_of_reader(fields_, run.tape.size);
  }
}

}  // namespace leveret::block
