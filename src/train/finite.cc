#include "train/finite.h"

#include <cmath>
#include <vector>

#include "store/finite.h"

namespace leveret::train {
namespace {

using store::count_non_finite;

std::size_t of_cells(const model::LinearTable& linear) {
  std::size_t bad = 0;
  linear.for_each([&](std::uint32_t, const float* cell) {
    bad += count_non_finite({cell, linear.cell_floats()});
  });
  return bad;
}

/// Weights of 16 bits are finite; what accumulators are depends on the shape.
std::size_t of_rows(const model::FieldTable& table) {
  if (table.shape().codec == kernels::Codec::f32()) {
    const auto* const first = reinterpret_cast<const float*>(table.row_arena().data());
    return count_non_finite({first, table.rows() * table.shape().stride() / sizeof(float)});
  }
  std::size_t bad = 0;
  for (model::Row row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < table.shape().state(); ++i) {
      bad += !std::isfinite(table.state(row, i));
    }
  }
  return bad;
}

std::size_t of_layer(const model::Dense& layer) {
  std::size_t bad = 0;
  for (const std::span<const float> values :
       {std::span<const float>(layer.weights), std::span<const float>(layer.bias),
        std::span<const float>(layer.weights_state), std::span<const float>(layer.bias_state),
        std::span<const float>(layer.weights_moment), std::span<const float>(layer.bias_moment)}) {
    bad += count_non_finite(values);
  }
  return bad;
}

}  // namespace

std::size_t count_non_finite(const model::Scalars& s) {
  std::vector<float> all{static_cast<float>(s.clicks),
                         static_cast<float>(s.count),
                         s.bias,
                         s.bias_sum,
                         s.bias2,
                         s.bias2_sum};
  for (const model::MixerState* mixer : {&s.first, &s.second}) {
    all.insert(all.end(), mixer->weight.begin(), mixer->weight.end());
    all.insert(all.end(), mixer->sum.begin(), mixer->sum.end());
    all.insert(all.end(), mixer->log_share.begin(), mixer->log_share.end());
  }
  return store::count_non_finite(all);
}

std::size_t count_non_finite(const model::Model& model) {
  std::size_t bad = count_non_finite(model.scalars()) + of_cells(model.linear()) +
                    store::count_non_finite(model.group_weights());
  for (const model::FieldTable& table : model.fields()) bad += of_rows(table);
  for (const model::Dense& layer : model.dense()) bad += of_layer(layer);
  return bad;
}

}  // namespace leveret::train
