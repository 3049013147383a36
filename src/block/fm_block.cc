#include "block/fm_block.h"

#include <algorithm>

#include "block/linear_block.h"

namespace leveret::block {

void FmBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  const std::uint32_t k = row_.k;
  sums_ = declarations.add(
      tape::Tensor{.name = "fm.sums", .size = static_cast<std::uint32_t>(sum_floats())});
  if (config_.layers_read_fm()) {
    pooled_ =
        declarations.add(tape::Tensor{.name = kPooled, .size = row_.used_k, .gradient = true});
  }
  scale_ = declarations.add(tape::Tensor{.name = "fm.scale", .size = 1});
  score_ = declarations.add(tape::Tensor{.name = "fm.score", .size = 1});
  const char* const head = config_.has_ffm() ? FfmBlock::kHead : "fm";
  head_ = {declarations.add_residual(head, FfmBlock::kHeadWeight, true), config_.mixed};
  vector_ = declarations.add(
      tape::Tensor{.name = "fm.vector", .per = tape::Tensor::Per::kBatch, .size = k});
}

void FmBlock::declare_rows(std::vector<Rows>& parts) {
  part_ = parts.size();
  parts.push_back(*config_.find_rows(Rows::Kind::kFm));
}

void FmBlock::forward(const tape::Parameters&, tape::Tape& tape, std::size_t begin,
                      std::size_t end) const {
  for (std::size_t b = begin; b < end; ++b) {
    float* const sum = tape[sums_].at(b);
    std::fill_n(sum, sum_floats(), 0.0f);
    Sums others;
    add(tape, b, sum, others);
    finish(tape, b, sum, others);
  }
}

void FmBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                           tape::SumDecls& sums) {
  score_sum_ = sums.find(LinearBlock::kScoreSum);
  instance_.declare(config_, "FM", sums);
  vector_sum_ = sums.add({"fm.sums", "FM", static_cast<std::uint32_t>(sum_floats())});
  if (!config_.has_one_score()) squares_sum_ = sums.add({"fm.squares", "FM"});
}

void FmBlock::partial(const tape::Parameters&, tape::Tape& tape, const tape::Partition& partition,
                      Share*, std::size_t begin, std::size_t end,
                      const tape::BatchSums<float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<float> of = sums[b];
    Sums others;
    add(tape, b, of.all(vector_sum_).data(), others);
    if (config_.has_one_score()) {
      of[score_sum_] -= 0.5f * InstanceSum::as_they_came(tape, b).scale() * others.squares;
    } else {
      of[squares_sum_] = others.squares;
    }
    instance_.partial(tape, partition, b, of);
  }
}

void FmBlock::finish(const tape::Parameters&, tape::Tape& tape, Share*, std::size_t begin,
                     std::size_t end, const tape::BatchSums<const float>& sums) const {
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    float* const vector = tape[sums_].at(b);
    std::ranges::copy(of.all(vector_sum_), vector);
    const float squares = config_.has_one_score() ? 0.0f : of[squares_sum_];  // it is in the score
    finish(tape, b, vector, {squares, instance_.of(tape, b, of)});
  }
}

template <class Take>
void FmBlock::for_each_vector(tape::Tape& tape, std::size_t b, Take take) const {
  float* const v = tape[vector_].values;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    if (!tape.has_part(run.field, part_)) continue;
    const std::size_t at = tape.layout_of(run.field).weights(part_).begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      kernels_.decode(row_.codec, tape.rows[i] + at, row_.k, v);
      take(i, tape.field_values[i], v);
    }
  }
}

void FmBlock::add(tape::Tape& tape, std::size_t b, float* sum, Sums& others) const {
  const std::size_t k = row_.k;
  float squares = 0;
  for_each_vector(tape, b, [&](std::uint32_t, float x, const float* v) {
    kernels_.axpy(x, v, k, sum);
    squares += x * x * kernels_.dot(v, v, k);
    if (pooled_ == tape::TensorId::kNone) return;
    for (std::size_t c = 0; c < k; ++c) sum[k + c] += x * v[c] * (x * v[c]);
  });
  const InstanceSums instance = FfmBlock::instance_sums(tape, b, false);
  others.squares += squares;
  others.instance.features += instance.features;
  others.instance.squares += instance.squares;
}

void FmBlock::finish(tape::Tape& tape, std::size_t b, const float* sum, const Sums& others) const {
  const std::size_t k = row_.k;
  const float scale = others.instance.scale();
  tape[scale_].values[b] = scale;
  tape[score_].values[b] = scale * 0.5f * (kernels_.dot(sum, sum, k) - others.squares);
  put_score(tape, b);
  if (pooled_ != tape::TensorId::kNone) put_pooled(tape, b, sum);
}

void FmBlock::put_pooled(tape::Tape& tape, std::size_t b, const float* sum) const {
  const std::size_t k = row_.k;
  const float half = 0.5f * tape[scale_].values[b];
  float* const to = tape[pooled_].at(b);
  for (std::size_t c = 0; c < row_.used_k; ++c) {
    to[c] = half * (sum[c] * sum[c] - sum[k + c]);
  }
}

void FmBlock::put_score(tape::Tape& tape, std::size_t b) const {
  head_.put(tape, b, head_.before(tape, b) + tape[score_].values[b]);
}

void FmBlock::backward(const tape::Parameters&, tape::Tape& tape) const {
  if (tape.sink != nullptr) tape.sink->rows(part_, *this);
}

/// They are d · scale · x_i (sum x v - x_i v_i), made in the place of v_i; d by component where
/// layers read what is pooled.
template <class Take>
void FmBlock::for_each_gradient(tape::Tape& tape, std::size_t b, Take take) const {
  const float scale = tape[scale_].values[b];
  const float d = head_.errors(tape)[b] * scale;
  const float* const by_layers = pooled_ != tape::TensorId::kNone ? tape[pooled_].d_at(b) : nullptr;
  const float* const sum = tape[sums_].at(b);
  for_each_vector(tape, b, [&](std::uint32_t i, float x, float* g) {
    for (std::size_t c = 0; c < row_.k; ++c) {
      const bool read = by_layers != nullptr && c < row_.used_k;
      const float d_c = read ? d + scale * by_layers[c] : d;
      g[c] = d_c * x * (sum[c] - x * g[c]);
    }
    take(i, g);
  });
}

void FmBlock::add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
                  float* const* sums) const {
  const std::uint32_t first = tape.field_begin(b);
  for_each_gradient(tape, b, [&](std::uint32_t i, const float* g) {
    kernels_.axpy(1.0f, g, row_.k, sums[i - first]);
  });
}

/// All of them before the first row moves, as several features may share one.
void FmBlock::collect(tape::Tape& tape) const {
  const std::size_t k = row_.k, most = tape.field_begin(1) - tape.field_begin(0);
  tape.row_gradients.resize(most * k);
  tape.vector_gradients.clear();
  tape.gradient_features.clear();
  float* to = tape.row_gradients.data();
  for_each_gradient(tape, 0, [&](std::uint32_t i, const float* g) {
    tape.gradient_features.push_back(i);
    tape.vector_gradients.push_back(to);
    to = std::copy_n(g, k, to);
  });
}

void FmBlock::each(const tape::Parameters&, tape::Tape& tape, tape::RowVisitor& visitor) const {
  collect(tape);
  const float one = 1.0f;
  for (std::size_t n = 0; n < tape.gradient_features.size(); ++n) {
    visitor.visit(tape.gradient_features[n], tape.vector_gradients[n], &one);
  }
}

tape::VectorGradients FmBlock::vectors(const tape::Parameters&, tape::Tape& tape) const {
  collect(tape);
  const std::size_t at = tape.row_layout->weights(part_).begin;
  tape.vector_rows.clear();
  for (const std::uint32_t i : tape.gradient_features) {
    tape.vector_rows.push_back(tape.to_learn.rows[i] + at);
  }
  tape.vector_factors.assign(tape.vector_rows.size(), 1.0f);
  return {tape.vector_rows,
          tape.vector_gradients.data(),
          tape.vector_factors.data(),
          {tape.row_gradients.data(), tape.vector_rows.size() * row_.k}};
}

}  // namespace leveret::block
