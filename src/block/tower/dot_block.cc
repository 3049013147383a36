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
    .make = make_tower_with_layers<DotBlock>};

namespace {

/// The place that a number of what it makes had when there were fewer fields; `kept` numbers of
/// each e.
std::uint32_t place_before(std::uint32_t kept, const tape::Extent& from, const tape::Extent& to,
                           std::uint32_t column) {
  const std::uint32_t own = to.fields * kept, own_before = from.fields * kept;
  if (column < own) return column < own_before ? column : tape::kNewColumn;
  const std::uint32_t product = column - own;
  const bool is_old = product < pair_count(from.fields);
  return is_old ? own_before + product : tape::kNewColumn;
}

}  // namespace

void DotBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  fields_ = declarations.read(kEmbeddings);
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  const std::size_t fields = layout.fields;
  std::size_t pairs = pair_count(fields);
  if (fields == 1 && !keeps_) pairs = 1;  // 0: layers read something where there are fields
  scratch_ =
      declarations.add(tape::Tensor{.name = tower_.name + ".scratch",
                                    .per = tape::Tensor::Per::kBatch,
                                    .size = static_cast<std::uint32_t>(pair_scratch(fields, d_))});
  out_ = declarations.add(tape::Tensor{
      .name = output_of(tower_),
      .size = static_cast<std::uint32_t>(kept(fields) + pairs),
      .whole_lines = true,
      .gradient = true,
      .source = [kept = keeps_ ? d_ : 0](const tape::Extent& from, const tape::Extent& to,
                                         std::uint32_t column) {
        return place_before(kept, from, to, column);
      }});
}

void DotBlock::finish(const Run& run) const {
  const std::size_t fields = run.parameters.layout.fields;
  const tape::TensorPlace& made = run.tape[out_];
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const e = run.tape[fields_.id].at(b);
    float* const begin = run.tape[out_].at(b);
    std::copy_n(e, kept(fields), begin);
    pair_products(*kernels_, e, fields, d_, begin + kept(fields), run.tape[scratch_].values);
    const std::size_t size = kept(fields) + pair_count(fields);
    bound(kMost, begin, size);
    std::fill(begin + size, begin + made.stride, 0.0f);
  }
}

void DotBlock::finish_back(const Run& run) const {
  const std::size_t fields = run.parameters.layout.fields;
  clear_unlearned(run.tape, std::array{out_});
  float* const d_fields = run.tape.tensors.d_of_reader(fields_, run.tape.size);
  const std::size_t stride = run.tape[fields_.id].d_stride;
  std::fill_n(d_fields, run.tape.size * stride, 0.0f);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float* const e = run.tape[fields_.id].at(b);
    const float* const d_made = run.tape[out_].d_at(b);
    float* const d_e = d_fields + b * stride;
    std::copy_n(d_made, kept(fields), d_e);
    pair_products_back(*kernels_, e, fields, d_, d_made + kept(fields), d_e,
                       run.tape[scratch_].values);
    bound(kMost, d_e, fields * d_);
  }
  run.tape.tensors.add_d_of_reader(fields_, run.tape.size);
}

}  // namespace leveret::block
