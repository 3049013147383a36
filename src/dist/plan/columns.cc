#include "dist/plan/columns.h"

#include <algorithm>
#include <utility>

namespace leveret::dist {

void Columns::fit(std::vector<std::uint32_t> names, tape::Extent to,
                  const tape::Declarations& declared) {
  const tape::LayerArrays& of = declared.layers[layer_];
  std::vector<Array> arrays;
  for (const tape::ArrayId id : declared.with_states(of.weights)) arrays.push_back({id, {}});
  rule_ = declared[of.weights].rule;
  outputs_ = static_cast<std::uint32_t>(declared[of.weights].rows());
  const std::size_t before = width(), now = table::whole_lines(names.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const tape::LearnedArray& array = declared[arrays[a].id];
    table::AlignedFloats& values = arrays[a].values;
    arrays[a].by_column = array.shape.size() > 1;
    if (!arrays[a].by_column) {
      values.assign(outputs_, 0.0f);
      continue;
    }
    values.assign(outputs_ * now, 0.0f);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::uint32_t name =
          layout_.fields > 0 ? array.source(layout_, to, names[c]) : tape::kNewColumn;
      const auto old = std::ranges::lower_bound(names_, name);
      const bool known = old != names_.end() && *old == name;
      const auto from = static_cast<std::size_t>(old - names_.begin());
      for (std::uint32_t o = 0; o < outputs_; ++o) {
        float& value = values[o * now + c];
        if (known) {
          value = arrays_[a].values[o * before + from];
        } else if (array.first) {
          value = array.first(o, names[c]);
        }
      }
    }
  }
  names_ = std::move(names);
  arrays_ = std::move(arrays);
  layout_ = to;
}

tape::LearnedDense Columns::layer() {
  tape::LearnedDense all{{static_cast<std::uint32_t>(size()), outputs_, {}, {}}, rule_.get()};
  if (arrays_.empty()) return all;
  all.weights = arrays_[0].values;
  for (std::size_t s = 1; s < arrays_.size(); ++s) all.weights_states[s - 1] = arrays_[s].values;
  return all;
}

tape::ConstDense Columns::layer() const {
  tape::ConstDense all{static_cast<std::uint32_t>(size()), outputs_, {}, {}};
  if (!arrays_.empty()) all.weights = arrays_[0].values;
  return all;
}

void Columns::take_common(const tape::Parameters& everyones) {
  for (Array& array : arrays_) {
    if (!array.by_column) std::ranges::copy(everyones[array.id], array.values.begin());
  }
}

void Columns::put_into(tape::Parameters& whole) const {
  for (const Array& array : arrays_) {
    if (!array.by_column) continue;
    const std::span<float> to = whole[array.id];
    const std::size_t stride = whole.declared()[array.id].stride();
    for (std::uint32_t o = 0; o < outputs_; ++o) {
      for (std::size_t c = 0; c < size(); ++c) {
        to[o * stride + names_[c]] = array.values[o * width() + c];
      }
    }
  }
}

void Columns::take_from(const tape::Parameters& whole) {
  for (Array& array : arrays_) {
    if (!array.by_column) continue;
    const std::span<const float> from = whole[array.id];
    const std::size_t stride = whole.declared()[array.id].stride();
    for (std::uint32_t o = 0; o < outputs_; ++o) {
      for (std::size_t c = 0; c < size(); ++c) {
        array.values[o * width() + c] = from[o * stride + names_[c]];
      }
    }
  }
}

}  // namespace leveret::dist
