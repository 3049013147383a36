#include "dist/placement.h"

#include <algorithm>
#include <numeric>

#include "block/ffm_block.h"

namespace leveret::dist {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffu;
/// What rounding a row up to half cache lines costs on average.
constexpr std::uint64_t kRowRounding = 16;

using block::pair_index;

std::size_t pair_of(std::uint32_t f, std::uint32_t g) {
  return pair_index(std::min(f, g), std::max(f, g));
}

/// One attempt: pieces of stars are at most `share` sixteenths of what a shard has on average.
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
        holds_(std::size_t{shape.shards} * sizes.size(), false) {
    for (std::uint32_t f = first; f < sizes.size(); ++f) homes_[f] = kNobody;
    std::fill(pairs_.begin() + (shape.has_ffm ? pair_index(0, first) : 0), pairs_.end(), kNobody);
    for (std::uint32_t f = 0; f < first; ++f) put_home(homes_[f], f);
    for (std::uint32_t g = 0; shape.has_ffm && g < first; ++g) {
      for (std::uint32_t f = 0; f < g; ++f) put_pair(pairs_[pair_index(f, g)], f, g);
    }
  }

  void run(std::uint64_t share) {
    std::vector<std::uint32_t> order(sizes_.size() - first_);
    std::iota(order.begin(), order.end(), first_);
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });
    std::uint64_t all = std::accumulate(loads_.begin(), loads_.end(), std::uint64_t{0});
    for (std::size_t i = 0; i < order.size(); ++i) {
      all += home_bytes(order[i]);
      for (std::size_t j = i + 1; shape_.has_ffm && j < order.size(); ++j) {
        all += pair_bytes(order[i], order[j]);
      }
    }
    const std::uint64_t piece = all / shape_.shards * share / 16;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place_star(order[i], std::span(order).subspan(i + 1), piece);
    }
    for (const std::uint32_t f : order) {
      for (std::uint32_t g = 0; shape_.has_ffm && g < first_; ++g) place_late(f, g);
    }
  }

  std::uint64_t fullest() const { return *std::ranges::max_element(loads_); }
  const std::vector<std::uint64_t>& loads() const { return loads_; }
  std::vector<std::uint32_t>& homes() { return homes_; }
  std::vector<std::uint32_t>& pairs() { return pairs_; }

 private:
  std::uint64_t weight(std::uint32_t f) const {
    return sizes_[f].features * shape_.cell_bytes + sizes_[f].rows * shape_.pair_bytes;
  }
  std::uint64_t home_bytes(std::uint32_t f) const {
    return sizes_[f].features * shape_.cell_bytes +
           sizes_[f].rows * (shape_.pair_bytes + shape_.vector_bytes + kRowRounding);
  }
  /// Of the keys and the rounding of a field on a shard that is not its home.
  std::uint64_t guest_bytes(std::uint32_t f) const {
    return sizes_[f].features * shape_.key_bytes + sizes_[f].rows * kRowRounding;
  }
  std::uint64_t pair_bytes(std::uint32_t f, std::uint32_t g) const {
    return (sizes_[f].rows + sizes_[g].rows) * shape_.pair_bytes;
  }
  std::vector<bool>::reference holds(std::uint32_t shard, std::uint32_t f) {
    return holds_[shard * sizes_.size() + f];
  }

  void put_home(std::uint32_t shard, std::uint32_t f) {
    homes_[f] = shard;
    loads_[shard] += home_bytes(f);
    if (holds(shard, f)) loads_[shard] -= guest_bytes(f);
    holds(shard, f) = true;
    if (shape_.has_ffm) pairs_[pair_index(f, f)] = shard;
  }
  void put_pair(std::uint32_t shard, std::uint32_t f, std::uint32_t g) {
    pairs_[pair_of(f, g)] = shard;
    loads_[shard] += pair_bytes(f, g);
    for (const std::uint32_t field : {f, g}) {
      if (!holds(shard, field)) loads_[shard] += guest_bytes(field);
      holds(shard, field) = true;
    }
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
  std::vector<bool> holds_;  ///< shard by field
};

}  // namespace

void place(const PlanShape& shape, std::span<const FieldSize> sizes, std::uint32_t first,
           std::vector<std::uint32_t>& homes, std::vector<std::uint32_t>& pairs) {
  constexpr std::uint64_t kShares[] = {1024, 16, 12, 8, 6, 4, 3, 2, 1};
  std::uint64_t best = ~std::uint64_t{0};
  const std::vector<std::uint32_t> old_homes = homes, old_pairs = pairs;
  for (const std::uint64_t share : kShares) {
    Attempt attempt(shape, sizes, first, old_homes, old_pairs);
    attempt.run(share);
    if (attempt.fullest() >= best) continue;
    best = attempt.fullest();
    homes = std::move(attempt.homes());
    pairs = std::move(attempt.pairs());
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
