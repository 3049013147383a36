/// The sums that partitions of a model add up for an example: the DES paper's, Algorithm 1.
///
/// A block makes a *partial* result of what a partition of the model has (partition.h), the sums of
/// all partitions are added, and the block *finishes* with these, the same everywhere. Which
/// numbers these are is declared here; their order is that of declaring, and is kept, as noise on a
/// network goes by it.
///
/// Sums come in rounds: those of a later one may depend on the whole sums of the earlier ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tape/tensor.h"

namespace leveret::tape {

/// A sum's place in SumDecls.
enum class SumId : std::uint32_t { kNone = 0xffffffffu };

struct SumDecl {
  std::string name;   ///< no other sum has it
  std::string block;  ///< whose it is, in words: --explain_plan tells what each sends
  std::uint32_t floats = 1;
  Tensor::Per per = Tensor::Per::kExample;
  /// The sum is the first numbers of this tensor, of groups whose features lie in all partitions.
  /// Who runs the blocks takes them from the tape after `partial`, and puts them there before
  /// `finish`.
  TensorId tensor = TensorId::kNone;
  std::uint32_t round = 0;
};

/// The sums of all blocks, for a model with so many fields. The ids are the same for any number.
class SumDecls {
 public:
  static constexpr std::uint32_t kMostRounds = 4;

  /// Sums that are added from now on are those of the next block, in the order of running.
  void next_block() { rounds_of_block_.push_back(1); }

  SumId add(SumDecl sum) {
    if (sum.round >= kMostRounds) throw std::logic_error("sum " + sum.name + ": too late a round");
    rounds_ = std::max(rounds_, sum.round + 1);
    if (!rounds_of_block_.empty()) {
      rounds_of_block_.back() = std::max(rounds_of_block_.back(), sum.round + 1);
    }
    std::size_t& all =
        sum.per == Tensor::Per::kBatch ? of_batch_[sum.round] : of_example_[sum.round];
    places_.push_back({all, sum.round});
    all += sum.floats;
    sums_.push_back(std::move(sum));
    return static_cast<SumId>(sums_.size() - 1);
  }
  /// kNone when no sum is called so.
  SumId find(std::string_view name) const {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].name == name) return static_cast<SumId>(i);
    }
    return SumId::kNone;
  }
  std::span<const SumDecl> all() const { return sums_; }
  const SumDecl& operator[](SumId id) const { return sums_[static_cast<std::size_t>(id)]; }
  /// Its first place among the floats of an example or of the batch, in its round.
  struct Place {
    std::size_t at;
    std::uint32_t round;
  };
  Place place(SumId id) const { return places_[static_cast<std::size_t>(id)]; }
  std::uint32_t rounds() const { return rounds_; }
  /// The rounds in which a block takes part, by its number: one at least.
  std::uint32_t rounds(std::size_t block) const { return rounds_of_block_[block]; }
  /// Floats of an example, and those that come once a batch, in a round.
  std::size_t of_example(std::uint32_t round) const { return of_example_[round]; }
  std::size_t of_batch(std::uint32_t round) const { return of_batch_[round]; }

 private:
  std::vector<SumDecl> sums_;
  std::vector<Place> places_;
  std::uint32_t rounds_ = 1;
  std::vector<std::uint32_t> rounds_of_block_;
  std::array<std::size_t, kMostRounds> of_example_{}, of_batch_{};
};

/// The places where the floats of each round begin.
using SumRounds = std::array<float*, SumDecls::kMostRounds>;

/// The sums of an example, where they lie.
class SumsOf {
 public:
  SumsOf(const SumDecls& declared, const SumRounds& at) : declared_(declared), at_(at) {}
  float& operator[](SumId id) const {
    const SumDecls::Place place = declared_.place(id);
    return at_[place.round][place.at];
  }
  std::span<float> all(SumId id) const { return {&(*this)[id], declared_[id].floats}; }

 private:
  const SumDecls& declared_;
  SumRounds at_;
};

/// Those of a batch. In each round what comes once a batch comes first, then the examples' own.
class BatchSums {
 public:
  /// `round`: the one that is made; the whole sums of those before it are there.
  BatchSums(const SumDecls& declared, const SumRounds& at, std::uint32_t round)
      : declared_(declared), at_(at), round_(round) {}
  std::uint32_t round() const { return round_; }
  const SumDecls& declared() const { return declared_; }
  /// The floats of a sum that comes once a batch.
  std::span<float> of_batch(SumId id) const { return SumsOf(declared_, at_).all(id); }
  SumsOf operator[](std::size_t b) const {
    SumRounds of = at_;
    for (std::uint32_t r = 0; r < declared_.rounds(); ++r) {
      of[r] += declared_.of_batch(r) + b * declared_.of_example(r);
    }
    return {declared_, of};
  }

 private:
  const SumDecls& declared_;
  SumRounds at_;
  std::uint32_t round_;
};

}  // namespace leveret::tape
