#include "ffm/pair_set.h"

#include <algorithm>
#include <bit>

#include "ffm/pair_index.h"

namespace leveret::ffm {

using kernels::Kernels;

// ---- a triangle ----

float* Triangle::room(ExampleRows& at, float* pairs) const {
  if (!at.squeezed) return pairs;
  const std::size_t count = pair_index(0, at.rows.size()) + Kernels::kSpare;
  if (at.compact.size() < count) at.compact.resize(2 * count);
  return at.compact.data();
}

float Triangle::multiply(const ExampleRows& at, float* room) const {
  const std::size_t n = at.rows.size();
  const float sum = kernels_->ffm_pairs(at.codec, at.rows.data(), at.fields.data(), n, k_, room);
  if (at.as_kernels_see()) return sum;
  times_values(at.x.data(), n, room);
  return kernels_->total(room, pair_index(0, n));
}

void Triangle::spread(const ExampleRows& at, const float* room, float* pairs) const {
  if (!at.squeezed || !whole_) return;
  std::fill(pairs, pairs + pair_index(0, places_.n), 0.0f);
  const std::uint32_t* const fields = at.fields.data();
  for (std::size_t i = 0; i < at.rows.size(); ++i) {
    const float* const from = room + pair_index(0, i);
    float* const to = pairs + pair_index(0, fields[i]);
    for (std::size_t j = 0; j < i; ++j) to[fields[j]] = from[j];
  }
  for (const ExampleRows::Several& field : at.several) {
    pairs[pair_index(field.field, field.field)] = room[pair_index(field.place, field.place)];
  }
}

std::optional<PairSet::Own> Triangle::own(const ExampleRows& at, std::size_t place) const {
  const std::size_t field = at.fields[place];
  return Own{field, pair_index(place, place), pair_index(field, field)};
}

void Triangle::put_deltas(ExampleRows& at, float own, const float* d) const {
  const std::size_t n = at.rows.size();
  tape::at_least(at.delta, pair_index(0, n) + Kernels::kSpare);
  if (d != nullptr && at.squeezed) {
    float* const to = room(at, nullptr);
    const std::uint32_t* const fields = at.fields.data();
    for (std::size_t i = 0; i < n; ++i) {
      float* const row = to + pair_index(0, i);
      const float* const from = d + pair_index(0, fields[i]);
      for (std::size_t j = 0; j < i; ++j) row[j] = from[fields[j]];
    }
    d = to;
  }
  kernels_->ffm_deltas(d, own, at.x.data(), n, at.delta.data());
}

void Triangle::add_gradients(ExampleRows& at) const {
  kernels_->ffm_gradients(at.codec, at.rows.data(), at.fields.data(), at.rows.size(), k_,
                          at.delta.data(), at.gradients.data());
}

// ---- a list ----

namespace {

/// The share of the fields below which rows of zeros do not stand for the others: by kernels a pair
/// takes about a tenth of the time that it takes one by one.
constexpr double kFewRows = 0.33;

}  // namespace

ListedPairs::ListedPairs(const kernels::Kernels& kernels, std::size_t k,
                         const std::vector<std::vector<std::uint32_t>>& opposite)
    : PairSet(kernels, k, {.n = opposite.size()}), begin_(1, 0) {
  const auto fields = static_cast<std::uint32_t>(opposite.size());
  for (std::uint32_t g = 0; g < fields; ++g) {
    places_.most_slots = std::max(places_.most_slots, opposite[g].size());
    places_of_fields_.push_back(opposite[g].empty() ? Places::kNone : g);
    before_.push_back(0);
    for (const std::uint32_t f : opposite[g]) {
      const auto mine = std::ranges::lower_bound(opposite[f], g);
      const auto slot = static_cast<std::uint32_t>(mine - opposite[f].begin());
      links_.push_back({f, slot, static_cast<std::uint32_t>(pairs_.size())});
      before_.back() += f < g ? 1 : 0;
      if (f <= g) pairs_.push_back({f, g});
    }
    begin_.push_back(static_cast<std::uint32_t>(links_.size()));
  }
  list_ = {fields, begin_.data(), before_.data(), links_.data()};
  for (std::uint32_t f = 0; f < fields; ++f) {
    for (Link& link : std::span(links_).subspan(begin_[f], list_.slots(f))) {
      if (link.row > f) link.pair = links_[begin_[link.row] + link.slot].pair;
    }
  }
  const auto with_slots =
      std::ranges::count_if(opposite, [](const auto& of) { return !of.empty(); });
  places_.sums_below = static_cast<std::size_t>(kFewRows * static_cast<double>(with_slots));
  places_.of_field = places_of_fields_.data();
  places_.slots_begin = begin_.data();
}

float ListedPairs::multiply(const ExampleRows& at, float* room) const {
  if (at.present < places_.sums_below) return multiply_few(at, room);
  const float sum = kernels_->ffm_listed_pairs(at.codec, at.rows.data(), list_, k_, room);
  if (at.as_kernels_see()) return sum;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    room[p] *= at.x[pairs_[p].f] * at.x[pairs_[p].g];
  }
  return kernels_->total(room, pairs_.size());
}

/// Of sums, one by one.
float ListedPairs::multiply_few(const ExampleRows& at, float* room) const {
  std::fill_n(room, pairs_.size(), 0.0f);
  const auto sums = [&](std::uint32_t place) {
    return reinterpret_cast<const float*>(at.rows[place]);
  };
  for (std::uint32_t place = 0; place < list_.n; ++place) {
    if (at.rows[place] == at.nothing.data()) continue;
    const Link* const links = list_.of(place);
    for (std::uint32_t slot = 0; slot < before_[place]; ++slot) {
      const Link& link = links[slot];
      if (at.rows[link.row] == at.nothing.data()) continue;
      room[link.pair] = kernels_->dot(sums(place) + slot * k_, sums(link.row) + link.slot * k_, k_);
    }
  }
  return kernels_->total(room, pairs_.size());
}

std::optional<PairSet::Own> ListedPairs::own(const ExampleRows&, std::size_t place) const {
  if (!list_.has_own(place)) return std::nullopt;
  const std::size_t pair = list_.of(place)[before_[place]].pair;
  return Own{before_[place], pair, pair};
}

/// Without branches: which fields are there is hard to foretell.
void ListedPairs::put_deltas(ExampleRows& at, float own, const float* d) const {
  tape::at_least(at.delta, links_.size() + Kernels::kSpare);
  const float* const x = at.x.data();
  const auto put = [&](std::uint32_t place, const auto& of_pair) {
    float* delta = at.delta.data() + begin_[place];
    for (const Link& link : std::span(list_.of(place), list_.slots(place))) {
      const float values = link.row != place ? x[place] * x[link.row] : 0.0f;
      // A field that is absent gives 0, even where the gradient is not finite.
      const std::uint32_t mask = values != 0.0f ? ~0u : 0u;
      const auto product = std::bit_cast<std::uint32_t>(of_pair(link.pair) * values);
      *delta++ = std::bit_cast<float>(product & mask);
    }
  };
  for (std::uint32_t place = 0; place < list_.n; ++place) {
    if (at.rows[place] == at.nothing.data()) continue;
    if (d != nullptr) {
      put(place, [&](std::uint32_t pair) { return d[pair] + own; });
    } else {
      put(place, [&](std::uint32_t) { return own; });
    }
  }
}

void ListedPairs::add_gradients(ExampleRows& at) const {
  kernels_->ffm_listed_gradients(at.codec, at.rows.data(), list_, k_, at.delta.data(),
                                 at.gradients.data());
}

}  // namespace leveret::ffm
