// Network, where the features of an example are in partitions of a model.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "net/network.h"

namespace leveret::net {
namespace {

/// Calls visit(sum, tensor of example b) for the sums that are tensors.
template <class Visit>
void for_each_tensor(const tape::BatchSums& sums, Tape& tape, std::size_t b, Visit visit) {
  const std::span<const tape::SumDecl> all = sums.declared().all();
  const tape::SumsOf of = sums[b];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].tensor == tape::TensorId::kNone) continue;
    visit(of.all(static_cast<tape::SumId>(i)), tape[all[i].tensor].at(b));
  }
}

}  // namespace

void Network::check_partitions() const {
  if (can_be_divided()) return;
  throw std::runtime_error(
      "a model with a block that needs whole examples cannot be learned in shards");
}

Shares Network::share(const Parameters& parameters, const tape::Partition& partition) const {
  Shares shares;
  for (const auto& block : blocks_) {
    shares.push_back(rests(*block, parameters) ? nullptr : block->share(parameters, partition));
  }
  return shares;
}

void Network::open_partition(const Parameters& parameters, std::size_t size, Tape& everyones,
                             Tape& tape) const {
  tape.first = 0;
  tape.size = size;
  tape.open_partition(everyones, parameters.declared(), size);
  for (const auto& block : blocks_) block->open(parameters, size, tape);
}

/// Of block i.
void Network::run_partial(const Parameters& parameters, Tape& tape,
                          const tape::Partition& partition, const Shares& shares, std::size_t i,
                          std::size_t begin, std::size_t end, const tape::BatchSums& sums) const {
  if (rests(*blocks_[i], parameters) || sums.round() >= sums.declared().rounds(i)) return;
  blocks_[i]->partial({parameters, tape, begin, end, &partition, shares[i].get(), &sums});
}

void Network::partial_example(const Parameters& parameters, Tape& tape,
                              const tape::Partition& partition, const Shares& shares, std::size_t b,
                              const tape::BatchSums& sums) const {
  for (std::size_t i = 0; i < before_batched_; ++i) {
    run_partial(parameters, tape, partition, shares, i, b, b + 1, sums);
  }
  if (sums.round() > 0) return;
  for_each_tensor(sums, tape, b, [](std::span<float> to, const float* from) {
    std::copy_n(from, to.size(), to.begin());
  });
}

void Network::partial_batched(const Parameters& parameters, Tape& tape,
                              const tape::Partition& partition, const Shares& shares,
                              const tape::BatchSums& sums) const {
  for (std::size_t i = before_batched_; i < blocks_.size(); ++i) {
    run_partial(parameters, tape, partition, shares, i, 0, tape.size, sums);
  }
}

void Network::partial(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
                      const Shares& shares, const tape::BatchSums& sums) const {
  for (std::size_t b = 0; b < tape.size; ++b) {
    partial_example(parameters, tape, partition, shares, b, sums);
  }
  partial_batched(parameters, tape, partition, shares, sums);
}

CachedParts Network::cache_context(const Parameters& parameters, const Tape& tape,
                                   const Shares& shares) const {
  CachedParts parts;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const bool rests = Network::rests(*blocks_[i], parameters);
    parts.push_back(rests ? nullptr : blocks_[i]->cache_context(tape, shares[i].get()));
  }
  return parts;
}

void Network::use_context(const Parameters& parameters, const Shares& candidates,
                          const CachedParts& context) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (rests(*blocks_[i], parameters)) continue;
    blocks_[i]->use_context(candidates[i].get(), context[i].get());
  }
}

void Network::finish(const Parameters& parameters, Tape& tape, const Shares& shares,
                     const tape::BatchSums& sums) const {
  const auto run = [&](std::size_t i, std::size_t begin, std::size_t end) {
    if (rests(*blocks_[i], parameters)) return;
    blocks_[i]->finish({parameters, tape, begin, end, nullptr, shares[i].get(), &sums});
  };
  for (std::size_t b = 0; b < tape.size; ++b) {
    for_each_tensor(sums, tape, b,
                    [](std::span<const float> from, float* to) { std::ranges::copy(from, to); });
    for (std::size_t i = 0; i < before_batched_; ++i) run(i, b, b + 1);
  }
  for (std::size_t i = before_batched_; i < blocks_.size(); ++i) run(i, 0, tape.size);
}

void Network::finish_back(const Parameters& parameters, Tape& tape, const Shares& shares) const {
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    if (rests(*blocks_[i], parameters)) continue;
    blocks_[i]->finish_back({parameters, tape, 0, tape.size, nullptr, shares[i].get()});
  }
}

void Network::partial_back(const Parameters& parameters, Tape& tape,
                           const tape::Partition& partition, const Shares& shares) const {
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    if (rests(*blocks_[i], parameters)) continue;
    blocks_[i]->partial_back({parameters, tape, 0, tape.size, &partition, shares[i].get()});
  }
}

}  // namespace leveret::net
