#include "tape/parameters.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace leveret::tape {
namespace {

/// How a change from `before` to `after` moves numbers `to`, which becomes all three.
template <class T, class Change>
void exchange_by(std::span<T> to, std::span<T> before, std::span<T> after, Change change) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    after[i] = before[i] = to[i] = change(to[i], before[i], after[i]);
  }
}

float changed_sum(float to, float before, float after) {
  return after < before ? to * (after / before) : to + (after - before);
}

/// The values of the same array, of this id, in another set.
template <class T>
std::span<T> same_of(Parameters& other, const LearnedArray& array, ArrayId id) {
  if constexpr (std::is_same_v<T, double>) {
    return {array.doubles_in(other.scalars), array.columns()};
  } else {
    if (float* const floats = array.floats_in(other.scalars)) return {floats, array.columns()};
    return other[id];
  }
}

}  // namespace

void Parameters::fit(Extent to, std::shared_ptr<const Declarations> declared) {
  const bool first_time = !has_arrays();
  std::vector<table::AlignedFloats> values(declared->arrays.size());
  scalars.mixers.resize(declared->mixer_floats);
  scalars.totals.resize(declared->total_doubles);
  for (std::size_t id = 0; id < values.size(); ++id) {
    const LearnedArray& array = declared->arrays[id];
    const auto rows = static_cast<std::uint32_t>(array.rows());
    const auto columns = static_cast<std::uint32_t>(array.columns());
    if (array.in_scalars()) {
      for (std::uint32_t c = 0; first_time && array.first && c < columns; ++c) {
        array.floats_in(scalars)[c] = array.first(0, c);
      }
      continue;
    }
    const ArrayId before = first_time ? ArrayId::kNone : find_near(array.name, id);
    const LearnedArray* const old = before != ArrayId::kNone ? &(*declared_)[before] : nullptr;
    const std::size_t old_rows = old != nullptr ? old->rows() : 0;
    const std::size_t old_columns = old_rows > 0 ? old->columns() : 0;
    values[id].assign(rows * array.stride(), 0.0f);
    for (std::uint32_t c = 0; c < columns; ++c) {
      std::uint32_t from = c < old_columns ? c : kNewColumn;
      if (array.source != nullptr && old_columns > 0) from = array.source(layout, to, c);
      for (std::uint32_t r = 0; r < rows; ++r) {
        float& value = values[id][r * array.stride() + c];
        if (from != kNewColumn && r < old_rows) {
          value = (*this)[before][r * old->stride() + from];
        } else if (array.first) {
          value = array.first(r, c);
        }
      }
    }
  }
  values_ = std::move(values);
  layers_.clear();
  for (const LayerArrays& layer : declared->layers) {
    const LearnedArray& weights = (*declared)[layer.weights];
    layers_.push_back({layer, static_cast<std::uint32_t>(weights.columns()),
                       static_cast<std::uint32_t>(weights.rows())});
  }
  declared_ = std::move(declared);
  layout = to;
}

LearnedDense Parameters::learned_layer(std::size_t l) {
  const LayerArrays& of = layers_[l].arrays;
  return {layer(l), (*declared_)[of.weights].rule.get(), states(of.weights), states(of.bias)};
}

States Parameters::states(ArrayId id) {
  States all{};
  const std::vector<ArrayId>& ids = (*declared_)[id].states;
  for (std::size_t s = 0; s < ids.size(); ++s) all[s] = (*this)[ids[s]];
  return all;
}

/// `find` of an array that most likely has this number.
ArrayId Parameters::find_near(std::string_view name, std::size_t id) const {
  const auto& arrays = declared_->arrays;
  return id < arrays.size() && arrays[id].name == name ? static_cast<ArrayId>(id) : find(name);
}

ArrayId Parameters::find(std::string_view name) const {
  const auto& arrays = declared_->arrays;
  const auto found = std::ranges::find(arrays, name, &LearnedArray::name);
  return found != arrays.end() ? static_cast<ArrayId>(found - arrays.begin()) : ArrayId::kNone;
}

std::vector<Dense> Parameters::layers() {
  std::vector<Dense> all;
  for (std::size_t l = 0; l < layer_count(); ++l) all.push_back(layer(l));
  return all;
}

std::vector<ConstDense> Parameters::layers() const {
  std::vector<ConstDense> all;
  for (std::size_t l = 0; l < layer_count(); ++l) all.push_back(layer(l));
  return all;
}

/// Adds to the moments `to` what the examples between `before` and `after` bring: a group of
/// examples is taken out of another, and put to a third (Chan, Golub and LeVeque 1979).
void Parameters::exchange_totals(const TotalsDecl& totals, const Scalars& before,
                                 const Scalars& after) {
  double* const to = scalars.totals.data() + totals.count;
  const double* const was = before.totals.data() + totals.count;
  const double* const now = after.totals.data() + totals.count;
  const double own = to[0], new_ones = now[0] - was[0], all = own + new_ones;
  if (new_ones <= 0) return;
  for (std::size_t i = 1; i <= totals.size; ++i) {
    const std::size_t at_squares = i + totals.size;
    const double mean = was[i] + (now[i] - was[i]) * now[0] / new_ones;
    const double apart = mean - was[i];
    const double squares =
        now[at_squares] - was[at_squares] - apart * apart * was[0] * new_ones / now[0];
    const double from_own = mean - to[i];
    to[at_squares] += std::max(squares, 0.0) + from_own * from_own * own * new_ones / all;
    to[i] += from_own * new_ones / all;
  }
  to[0] = all;
}

void Parameters::exchange(Parameters& before, Parameters& after) {
  const double forgotten = after.scalars.forgotten - before.scalars.forgotten;
  const auto kept = static_cast<float>(std::exp(-forgotten));
  for_each([&]<class T>(const ArrayValues<T>& values) {
    const std::span<T> to = values.all();
    if (values.array.in_totals != LearnedArray::kNoTotals) return;
    const auto id = static_cast<ArrayId>(&values.array - declared_->arrays.data());
    const std::span<T> was = same_of<T>(before, values.array, id);
    const std::span<T> now = same_of<T>(after, values.array, id);
    if constexpr (std::is_same_v<T, float>) {
      switch (values.array.merge) {
        case Merge::kSum:
          return exchange_by(to, was, now, changed_sum);
        case Merge::kLatest:
          return exchange_by(to, was, now, [](float own, float from, float latest) {
            return latest != from ? latest : own;
          });
        case Merge::kShares:  // `kept` of `before` is in `after`
          exchange_by(to, was, now, [&](float own, float from, float latest) {
            return kept * own + (latest - kept * from);
          });
          // What several threads have put far behind is bounded here, too: each of them would lift
          // it to the bound again, and so, together, to the top.
          bound_shares(to);
          std::ranges::copy(to, was.begin());
          std::ranges::copy(to, now.begin());
          return;
        case Merge::kAdd:
          break;
      }
    }
    exchange_by(to, was, now, [](T own, T from, T latest) { return own + (latest - from); });
  });
  for (const TotalsDecl& totals : declared_->totals) {
    exchange_totals(totals, before.scalars, after.scalars);
  }
  scalars.forgotten += forgotten;
  scalars.examples += after.scalars.examples - before.scalars.examples;
  scalars.dropped_gradients += after.scalars.dropped_gradients - before.scalars.dropped_gradients;
  before.scalars = after.scalars = scalars;
}

}  // namespace leveret::tape
