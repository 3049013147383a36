#include "block/embedding_block.h"

#include <algorithm>
#include <cmath>

#include "block/bound.h"
#include "block/ffm_block.h"

namespace leveret::block {
namespace {

/// Example b's numbers of a tensor, 0 as yet; empty: nobody reads it.
std::span<float> zeros_of(tape::Tape& tape, tape::TensorId tensor, std::size_t b) {
  if (tape[tensor].readers == 0) return {};
  float* const values = tape[tensor].at(b);
  std::fill_n(values, tape[tensor].stride, 0.0f);
  return {values, tape[tensor].stride};
}

}  // namespace

void EmbeddingBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  fields_ = declarations.add(tape::Tensor{.name = kFields,
                                          .size = layout.fields * row_.used_k,
                                          .whole_lines = true,
                                          .only_if_read = true,
                                          .gradient_if_read = true});
  own_ = declarations.add(tape::Tensor{.name = kOwnFields,
                                       .size = layout.fields * row_.used_k,
                                       .owner = tape::Owner::Kind::kField,
                                       .width = row_.used_k,
                                       .whole_lines = true,
                                       .only_if_read = true,
                                       .gradient_if_read = true});
  sums_ = declarations.add(
      tape::Tensor{.name = kSums, .size = row_.used_k + 1, .gradient_if_read = true});
  scale_ = declarations.add(tape::Tensor{.name = kScale, .size = 1});
  vector_ = declarations.add(
      tape::Tensor{.name = "embedding.vector", .per = tape::Tensor::Per::kBatch, .size = row_.k});
}

void EmbeddingBlock::declare_rows(std::vector<Rows>& parts) {
  part_ = parts.size();
  parts.push_back(*config_.find_rows(Rows::Kind::kEmbedding));
}

void EmbeddingBlock::declare_sums(const tape::Extent& layout, std::uint32_t,
                                  const tape::Declarations& declared, tape::SumDecls& sums) {
  instance_.declare(config_, "embeddings", sums);
  fields_sum_ = sums_sum_ = tape::SumId::kNone;
  if (declared[fields_].readers > 0) {
    fields_sum_ = sums.add({kFields, "embeddings", layout.fields * row_.used_k});
  }
  if (declared[sums_].readers > 0) sums_sum_ = sums.add({kSums, "embeddings", row_.used_k + 1});
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

void EmbeddingBlock::put(tape::Tape& tape, std::size_t b, std::span<float> fields,
                         std::span<float> sums) const {
  const std::size_t d = row_.used_k;
  const auto keep_within = [&](float most, std::span<float> numbers) {
    if (!(kernels_->largest(numbers.data(), numbers.size()) <= most))
      bound(most, numbers.data(), numbers.size());
  };
  if (!fields.empty()) {
    for_each_feature(tape, b,
                     [&](std::uint32_t field, std::uint32_t i, std::size_t at, float factor) {
                       kernels_->add_numbers(row_.codec, tape.rows[i] + at, factor, d,
                                             fields.data() + field * d);
                     });
    keep_within(kMost, fields);
  }
  if (sums.empty()) return;
  float* const v = tape[vector_].values;
  for_each_feature(tape, b, [&](std::uint32_t, std::uint32_t i, std::size_t at, float factor) {
    kernels_->decode(row_.codec, tape.rows[i] + at, row_.k, v);
    kernels_->axpy(factor, v, d, sums.data());
    sums[d] += factor * factor * kernels_->dot(v, v, d);
  });
  constexpr float kMostOfSum = kMost * kMost;
  keep_within(kMostOfSum, sums.first(d));
  keep_within(static_cast<float>(d) * kMostOfSum * kMostOfSum, sums.subspan(d));
}

/// The same, where what is everyone's of the fields goes to `all`.
void EmbeddingBlock::put_all(tape::Tape& tape, std::size_t b, std::span<float> all,
                             std::span<float> sums) const {
  const std::span<float> own = zeros_of(tape, own_, b);
  put(tape, b, own.empty() ? all : own, sums);
  if (!own.empty()) std::copy_n(own.begin(), all.size(), all.begin());
}

void EmbeddingBlock::forward(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    put_all(run.tape, b, zeros_of(run.tape, fields_, b), zeros_of(run.tape, sums_, b));
    run.tape[scale_].values[b] = FfmBlock::instance_sums(run.tape, b, false).scale();
  }
}

void EmbeddingBlock::partial(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const auto all = [&](tape::SumId sum) {
      return sum != tape::SumId::kNone ? of.all(sum) : std::span<float>();
    };
    put_all(run.tape, b, all(fields_sum_), all(sums_sum_));
    instance_.partial(run.tape, *run.partition, b, of);
  }
}

void EmbeddingBlock::finish(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const auto take = [&](tape::SumId sum, tape::TensorId tensor) {
      if (sum == tape::SumId::kNone) return;
      float* const to = run.tape[tensor].at(b);
      const auto rest = std::ranges::copy(of.all(sum), to).out;
      std::fill(rest, to + run.tape[tensor].stride, 0.0f);
    };
    take(fields_sum_, fields_);
    take(sums_sum_, sums_);
    run.tape[scale_].values[b] = instance_.of(run.tape, b, of).scale();
  }
}

void EmbeddingBlock::partial_back(const Run& run) const {
  if (run.tape[own_].readers > 0 && run.tape[fields_].readers > 0) {
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      kernels_->axpy(1.0f, run.tape[fields_].d_at(b), run.tape[own_].d_stride,
                     run.tape[own_].d_at(b));
    }
  }
  if (run.tape.sink != nullptr) run.tape.sink->rows(part_, *this);
}

/// With e, S and Q as in the header: factor · (d e_f + d S) + 2 factor² (d Q) v.
void EmbeddingBlock::add_gradient(tape::Tape& tape, std::size_t b, std::uint32_t field,
                                  const std::byte* vector, float factor, float* to) const {
  const std::size_t d = row_.used_k;
  if (const float* const d_fields = d_of_fields(tape, b)) {
    kernels_->axpy(factor, d_fields + field * d, d, to);
  }
  if (tape[sums_].readers == 0) return;
  const float* const d_sums = tape[sums_].d_at(b);
  float* const v = tape[vector_].values;
  kernels_->decode(row_.codec, vector, row_.k, v);
  kernels_->axpy(factor, d_sums, d, to);
  kernels_->axpy(2 * factor * factor * d_sums[d], v, d, to);
}

void EmbeddingBlock::add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
                         float* const* sums) const {
  const std::uint32_t first = tape.field_begin(b);
  if (tape[sums_].readers == 0) {
    const float* const d = d_of_fields(tape, b);
    return for_each_feature(tape, b,
                            [&](std::uint32_t field, std::uint32_t i, std::size_t, float factor) {
                              kernels_->axpy(factor, d + std::size_t{field} * row_.used_k,
                                             row_.used_k, sums[i - first]);
                            });
  }
  for_each_feature(tape, b,
                   [&](std::uint32_t field, std::uint32_t i, std::size_t at, float factor) {
                     add_gradient(tape, b, field, tape.rows[i] + at, factor, sums[i - first]);
                   });
}

/// Those of the tape's only example, each made for itself, before the first row moves, as several
/// features may share one. What is stored beyond d stays 0.
tape::VectorGradients EmbeddingBlock::own_gradients(tape::Tape& tape) const {
  const std::size_t most = tape.field_begin(1) - tape.field_begin(0);
  tape.row_gradients.assign(most * row_.k, 0.0f);
  tape.vector_rows.clear();
  tape.vector_gradients.clear();
  tape.gradient_features.clear();
  float* to = tape.row_gradients.data();
  for_each_feature(tape, 0,
                   [&](std::uint32_t field, std::uint32_t i, std::size_t at, float factor) {
                     add_gradient(tape, 0, field, tape.rows[i] + at, factor, to);
                     tape.gradient_features.push_back(i);
                     tape.vector_rows.push_back(tape.to_learn.rows[i] + at);
                     tape.vector_gradients.push_back(to);
                     to += row_.k;
                   });
  tape.vector_factors.assign(tape.vector_rows.size(), 1.0f);
  return {tape.vector_rows,
          tape.vector_gradients.data(),
          tape.vector_factors.data(),
          {tape.row_gradients.data(), tape.vector_rows.size() * row_.k}};
}

void EmbeddingBlock::each(const tape::Parameters&, tape::Tape& tape,
                          tape::RowVisitor& visitor) const {
  if (tape[sums_].readers > 0) {
    own_gradients(tape);
    const float one = 1.0f;
    for (std::size_t n = 0; n < tape.gradient_features.size(); ++n) {
      visitor.visit(tape.gradient_features[n], tape.vector_gradients[n], &one);
    }
    return;
  }
  const float* const d = d_of_fields(tape, 0);
  float* const padded = tape[vector_].values;  // what is stored beyond d stays 0
  std::fill_n(padded, row_.k, 0.0f);
  for_each_feature(tape, 0, [&](std::uint32_t field, std::uint32_t i, std::size_t, float factor) {
    std::copy_n(d + std::size_t{field} * row_.used_k, row_.used_k, padded);
    visitor.visit(i, padded, &factor);
  });
}

tape::VectorGradients EmbeddingBlock::vectors(const tape::Parameters& parameters,
                                              tape::Tape& tape) const {
  if (tape[sums_].readers > 0) return own_gradients(tape);
  if (row_.used_k < row_.k) return {};  // gradients lie one behind the other
  const float* const d = d_of_fields(tape, 0);
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
