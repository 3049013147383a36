#include "block/embedding_block.h"

#include <algorithm>
#include <cmath>

#include "block/bound.h"
#include "block/ffm_block.h"

namespace leveret::block {
void EmbeddingBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  fields_ = declarations.add(tape::Tensor{
      .name = kFields, .size = layout.fields * row_.used_k, .whole_lines = true, .gradient = true});
  scale_ = declarations.add(tape::Tensor{.name = kScale, .size = 1});
  vector_ = declarations.add(
      tape::Tensor{.name = "embedding.vector", .per = tape::Tensor::Per::kBatch, .size = row_.k});
}

void EmbeddingBlock::declare_rows(std::vector<Rows>& parts) {
  part_ = parts.size();
  parts.push_back(*config_.find_rows(Rows::Kind::kEmbedding));
}

void EmbeddingBlock::declare_sums(const tape::Extent& layout, std::uint32_t,
                                  const tape::Declarations&, tape::SumDecls& sums) {
  instance_.declare(config_, "embeddings", sums);
  fields_sum_ = sums.add({kFields, "embeddings", layout.fields * row_.used_k});
}

template <class Take>
void EmbeddingBlock::for_each_feature(const tape::Tape& tape, std::size_t b, Take take) const {
  const bool one_layout = tape.field_layouts.empty();  // every field has the part, in one place
  if (one_layout && tape.row_layout == nullptr) return;
  std::size_t at = one_layout ? tape.row_layout->weights(part_).begin : 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    if (!one_layout) {
      if (!tape.has_part(run.field, part_)) continue;
      at = tape.layout_of(run.field).weights(part_).begin;
    }
    float divisor = 1;
    if (config_.pool == Pool::kMean) {
      float sum = 0;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        if (tape.rows[i] != nullptr) sum += std::fabs(tape.field_values[i]);
      }
      divisor = std::max(sum, 1e-6f);
    }
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] != nullptr) take(run.field, i, at, tape.field_values[i] / divisor);
    }
  }
}

void EmbeddingBlock::put_fields(tape::Tape& tape, std::size_t b, std::span<float> fields) const {
  for_each_feature(tape, b,
                   [&](std::uint32_t field, std::uint32_t i, std::size_t at, float factor) {
                     kernels_->add_numbers(row_.codec, tape.rows[i] + at, factor, row_.used_k,
                                           fields.data() + std::size_t{field} * row_.used_k);
                   });
  if (!(kernels_->largest(fields.data(), fields.size()) <= kMost))
    bound(kMost, fields.data(), fields.size());
}

void EmbeddingBlock::forward(const tape::Parameters&, tape::Tape& tape, std::size_t begin,
                             std::size_t end) const {
  for (std::size_t b = begin; b < end; ++b) {
    float* const fields = tape[fields_].at(b);
    std::fill_n(fields, tape[fields_].stride, 0.0f);
    put_fields(tape, b, {fields, tape[fields_].stride});
    tape[scale_].values[b] = FfmBlock::instance_sums(tape, b, false).scale();
  }
}

void EmbeddingBlock::partial(const tape::Parameters&, tape::Tape& tape,
                             const tape::Partition& partition, Share*, std::size_t begin,
                             std::size_t end, const tape::BatchSums<float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<float> of = sums[b];
    put_fields(tape, b, of.all(fields_sum_));
    instance_.partial(tape, partition, b, of);
  }
}

void EmbeddingBlock::finish(const tape::Parameters&, tape::Tape& tape, Share*, std::size_t begin,
                            std::size_t end, const tape::BatchSums<const float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    float* const fields = tape[fields_].at(b);
    const auto rest = std::ranges::copy(of.all(fields_sum_), fields).out;
    std::fill(rest, fields + tape[fields_].stride, 0.0f);
    tape[scale_].values[b] = instance_.of(tape, b, of).scale();
  }
}

void EmbeddingBlock::backward(const tape::Parameters&, tape::Tape& tape) const {
  if (tape.sink != nullptr) tape.sink->rows(part_, *this);
}

void EmbeddingBlock::add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
                         float* const* sums) const {
  const std::uint32_t first = tape.field_begin(b);
  const float* const d = tape[fields_].d_at(b);
  for_each_feature(tape, b, [&](std::uint32_t field, std::uint32_t i, std::size_t, float factor) {
    kernels_->axpy(factor, d + std::size_t{field} * row_.used_k, row_.used_k, sums[i - first]);
  });
}

void EmbeddingBlock::each(const tape::Parameters&, tape::Tape& tape,
                          tape::RowVisitor& visitor) const {
  const float* const d = tape[fields_].d_at(0);
  float* const padded = tape[vector_].values;  // what is stored beyond d stays 0
  std::fill_n(padded, row_.k, 0.0f);
  for_each_feature(tape, 0, [&](std::uint32_t field, std::uint32_t i, std::size_t, float factor) {
    std::copy_n(d + std::size_t{field} * row_.used_k, row_.used_k, padded);
    visitor.visit(i, padded, &factor);
  });
}

tape::VectorGradients EmbeddingBlock::vectors(const tape::Parameters& parameters,
                                              tape::Tape& tape) const {
  if (row_.used_k < row_.k) return {};  // gradients lie one behind the other
  const float* const d = tape[fields_].d_at(0);
  const std::size_t most = tape.field_begin(1) - tape.field_begin(0);
  tape.vector_rows.resize(most);
  tape.vector_gradients.resize(most);
  tape.vector_factors.resize(most);
  std::size_t n = 0;
  for_each_feature(tape, 0,
                   [&](std::uint32_t field, std::uint32_t i, std::size_t at, float factor) {
                     tape.vector_rows[n] = tape.to_learn.rows[i] + at;
                     tape.vector_gradients[n] = d + std::size_t{field} * row_.used_k;
                     tape.vector_factors[n++] = factor;
                   });
  return {{tape.vector_rows.data(), n},
          tape.vector_gradients.data(),
          tape.vector_factors.data(),
          {d, parameters.layout.fields * row_.used_k}};
}

}  // namespace leveret::block
