#include "dist/plan/placement.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ffm/pair_index.h"

namespace leveret::dist {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffu;
/// Bytes that rounding a row up to half cache lines costs on average.
constexpr std::uint64_t kRowRounding = 16;

/// Per cent by which filling must be better: it puts fields of one size side by side, so that a
/// wrong guess of how they grow makes one shard full.
constexpr std::uint64_t kFillHandicap = 10;

using ffm::pair_index;

std::size_t pair_of(std::uint32_t f, std::uint32_t g) {
  return pair_index(std::min(f, g), std::max(f, g));
}

/// One attempt.
class Attempt {
 public:
  Attempt(const PlanShape& shape, std::span<const FieldSize> sizes, std::uint32_t first,
          std::vector<std::uint32_t> homes, std::vector<std::uint32_t> pairs)
      : shape_(shape),
        sizes_(sizes),
        first_(first),
        homes_(std::move(homes)),
        pairs_(std::move(pairs)),
        loads_(shape.shards, 0),
        slots_(std::size_t{shape.shards} * sizes.size(), 0) {
    for (std::uint32_t f = first; f < sizes.size(); ++f) homes_[f] = kNobody;
    std::fill(pairs_.begin() + (shape.has_ffm ? pair_index(0, first) : 0), pairs_.end(), kNobody);
    for (std::uint32_t f = 0; f < first; ++f) put_home(homes_[f], f);
    for (std::uint32_t g = 0; shape.has_ffm && g < first; ++g) {
      for (std::uint32_t f = 0; f < g; ++f) put_pair(pairs_[pair_index(f, g)], f, g);
    }
  }

  /// Each star where there is most room, in pieces of at most so many sixteenths of a shard's
  /// share.
  void spread(std::uint64_t sixteenths) {
    const std::vector<std::uint32_t> order = by_size();
    const std::uint64_t piece = share(order) * sixteenths / 16;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place_star(order[i], std::span(order).subspan(i + 1), piece);
    }
    place_late(order);
  }

  /// One shard after the other is filled up to so many sixty-fourths of its share.
  void fill(std::uint64_t sixty_fourths) {
    const std::vector<std::uint32_t> order = by_size();
    const std::uint64_t full = share(order) * sixty_fourths / 64;
    std::uint32_t shard = 0;
    const auto next = [&](std::uint64_t bytes) {
      if (loads_[shard] + bytes > full && shard + 1 < shape_.shards) ++shard;
      return shard;
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t f = order[i];
      put_home(next(home_bytes(f)), f);
      for (std::size_t j = i + 1; shape_.has_ffm && j < order.size(); ++j) {
        put_pair(next(pair_bytes(f, order[j])), f, order[j]);
      }
    }
    place_late(order);
  }

  /// Moves pairs, one at a time, as long as the sum of the squares of all loads becomes less: what
  /// lies on many shards for few pairs goes, and shards become equal.
  void improve() {
    constexpr int kRounds = 16;
    bool moved = shape_.has_ffm;
    for (int round = 0; round < kRounds && moved; ++round) {
      moved = false;
      for (std::uint32_t g = 0; g < sizes_.size(); ++g) {
        for (std::uint32_t f = 0; f < g; ++f) moved |= move_pair(f, g);
      }
    }
  }

  std::uint64_t fullest() const { return *std::ranges::max_element(loads_); }
  const std::vector<std::uint64_t>& loads() const { return loads_; }
  std::vector<std::uint32_t>& homes() { return homes_; }
  std::vector<std::uint32_t>& pairs() { return pairs_; }

 private:
  /// New fields, the largest first.
  std::vector<std::uint32_t> by_size() const {
    std::vector<std::uint32_t> order(sizes_.size() - first_);
    std::iota(order.begin(), order.end(), first_);
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });
    return order;
  }
  /// Bytes that a shard has on average, did each feature lie on one.
  std::uint64_t share(const std::vector<std::uint32_t>& order) const {
    std::uint64_t all = std::accumulate(loads_.begin(), loads_.end(), std::uint64_t{0});
    for (std::size_t i = 0; i < order.size(); ++i) {
      all += home_bytes(order[i]);
      for (std::size_t j = i + 1; shape_.has_ffm && j < order.size(); ++j) {
        all += pair_bytes(order[i], order[j]);
      }
    }
    return all / shape_.shards;
  }

  std::uint64_t weight(std::uint32_t f) const {
    return sizes_[f].features * shape_.cell_bytes + sizes_[f].rows * shape_.pair_bytes;
  }
  std::uint64_t home_bytes(std::uint32_t f) const {
    return sizes_[f].features * shape_.cell_bytes +
           sizes_[f].rows * (shape_.pair_bytes + shape_.vector_bytes + kRowRounding);
  }
  /// Bytes that the keys and the rounding of a field take on a shard that is not its home.
  std::uint64_t guest_bytes(std::uint32_t f) const {
    return sizes_[f].features * shape_.key_bytes + sizes_[f].rows * kRowRounding;
  }
  std::uint64_t pair_bytes(std::uint32_t f, std::uint32_t g) const {
    return (sizes_[f].rows + sizes_[g].rows) * shape_.pair_bytes;
  }
  std::uint32_t& slots(std::uint32_t shard, std::uint32_t f) {
    return slots_[shard * sizes_.size() + f];
  }
  bool holds(std::uint32_t shard, std::uint32_t f) {
    return homes_[f] == shard || slots(shard, f) > 0;
  }

  void put_home(std::uint32_t shard, std::uint32_t f) {
    if (slots(shard, f) > 0) loads_[shard] -= guest_bytes(f);
    homes_[f] = shard;
    loads_[shard] += home_bytes(f);
    if (!shape_.has_ffm) return;
    pairs_[pair_index(f, f)] = shard;
    ++slots(shard, f);
  }
  /// Bytes that pair {f, g} adds to the shard.
  std::uint64_t added(std::uint32_t shard, std::uint32_t f, std::uint32_t g) {
    return pair_bytes(f, g) + (holds(shard, f) ? 0 : guest_bytes(f)) +
           (holds(shard, g) ? 0 : guest_bytes(g));
  }
  void put_pair(std::uint32_t shard, std::uint32_t f, std::uint32_t g) {
    loads_[shard] += added(shard, f, g);
    pairs_[pair_of(f, g)] = shard;
    ++slots(shard, f);
    ++slots(shard, g);
  }
  void take_pair(std::uint32_t f, std::uint32_t g) {
    const std::uint32_t shard = pairs_[pair_of(f, g)];
    --slots(shard, f);
    --slots(shard, g);
    loads_[shard] -= added(shard, f, g);
  }

  std::uint32_t emptiest() const {
    return static_cast<std::uint32_t>(std::ranges::min_element(loads_) - loads_.begin());
  }

  /// The star of f, of which the smaller fields are `others`, in pieces of so many bytes.
  void place_star(std::uint32_t f, std::span<const std::uint32_t> others, std::uint64_t piece) {
    std::uint32_t shard = emptiest();
    put_home(shard, f);
    if (!shape_.has_ffm) return;
    std::uint64_t left = piece - std::min(piece, home_bytes(f));
    for (const std::uint32_t g : others) {
      const std::uint64_t bytes = pair_bytes(f, g);
      if (bytes > left) {
        shard = emptiest();
        left = piece;
      }
      put_pair(shard, f, g);
      left -= std::min(left, bytes);
    }
  }

  bool move_pair(std::uint32_t f, std::uint32_t g) {
    const std::uint32_t from = pairs_[pair_of(f, g)];
    take_pair(f, g);
    // Squares of such numbers and their sums have 64 bits.
    const int shift = std::max(0, static_cast<int>(std::bit_width(fullest())) - 30);
    std::uint32_t best = from;
    std::uint64_t least = ~std::uint64_t{0};
    const auto consider = [&](std::uint32_t shard) {
      const std::uint64_t before = loads_[shard] >> shift;
      const std::uint64_t after = (loads_[shard] + added(shard, f, g)) >> shift;
      const std::uint64_t more = after * after - before * before;
      if (more >= least) return;
      least = more;
      best = shard;
    };
    consider(from);
    for (std::uint32_t shard = 0; shard < shape_.shards; ++shard) consider(shard);
    put_pair(best, f, g);
    return best != from;
  }

  void place_late(const std::vector<std::uint32_t>& order) {
    for (const std::uint32_t f : order) {
      for (std::uint32_t g = 0; shape_.has_ffm && g < first_; ++g) place_late(f, g);
    }
  }
  /// The pair of new field f and g, whose rows are there.
  void place_late(std::uint32_t f, std::uint32_t g) {
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const auto rank = [&](std::uint32_t shard) {
        return homes_[f] == shard ? 0 : holds(shard, f) ? 1 : 2;
      };
      return rank(a) != rank(b) ? rank(a) < rank(b) : loads_[a] < loads_[b];
    };
    std::uint32_t best = homes_[g];
    for (std::uint32_t shard = 0; shard < shape_.shards; ++shard) {
      if (holds(shard, g) && better(shard, best)) best = shard;
    }
    put_pair(best, f, g);
  }

  const PlanShape& shape_;
  std::span<const FieldSize> sizes_;
  std::uint32_t first_;
  std::vector<std::uint32_t> homes_, pairs_;
  std::vector<std::uint64_t> loads_;
  std::vector<std::uint32_t> slots_;  ///< shard by field: of its rows
};

}  // namespace

void place(const PlanShape& shape, std::span<const FieldSize> sizes, std::uint32_t first,
           std::vector<std::uint32_t>& homes, std::vector<std::uint32_t>& pairs) {
  std::uint64_t best = ~std::uint64_t{0};
  const std::vector<std::uint32_t> old_homes = homes, old_pairs = pairs;
  const auto attempt = [&](std::uint64_t handicap, auto way) {
    Attempt one(shape, sizes, first, old_homes, old_pairs);
    way(one);
    if (first == 0) one.improve();
    const std::uint64_t fullest = one.fullest() + one.fullest() / 100 * handicap;
    if (fullest >= best) return;
    best = fullest;
    homes = std::move(one.homes());
    pairs = std::move(one.pairs());
  };
  for (const std::uint64_t sixteenths : {1024, 16, 8, 4, 2}) {
    attempt(0, [&](Attempt& one) { one.spread(sixteenths); });
  }
  if (first > 0) return;
  for (std::uint64_t sixty_fourths = 64; sixty_fourths < 96; sixty_fourths += 2) {
    attempt(kFillHandicap, [&](Attempt& one) { one.fill(sixty_fourths); });
  }
}

std::vector<std::uint64_t> shard_loads(const PlanShape& shape, std::span<const FieldSize> sizes,
                                       std::span<const std::uint32_t> homes,
                                       std::span<const std::uint32_t> pairs) {
  const auto all = static_cast<std::uint32_t>(sizes.size());
  return Attempt(shape, sizes, all, {homes.begin(), homes.end()}, {pairs.begin(), pairs.end()})
      .loads();
}

}  // namespace leveret::dist
