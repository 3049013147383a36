/// Counts of examples and features, and the steps of the mixers of heads: all that learning moves
/// beside weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "block/config.h"
#include "table/tables.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

struct Counted {
  std::uint64_t learned = 0;
  std::uint64_t dropped = 0;  ///< labelled, but with a gradient that is not finite
};
/// Counts examples [begin, end) of the tape.
Counted counted_of(const tape::Tape& tape, std::size_t begin, std::size_t end);

/// Adds to the totals of numbers (tape::TotalsDecl) what the examples have that are learned from.
void add_totals(tape::Parameters& parameters, const tape::Tape& tape, std::size_t begin,
                std::size_t end);

// The same by sums, of several who know the same totals: of each number what it is away from its
// mean, and the squares of that. Numbers are to be small enough for floats.

/// Floats of the sums of all totals.
std::size_t total_floats(const tape::Parameters& parameters);
/// Adds what all examples of the tape have to `sums`.
void sum_totals(const tape::Parameters& parameters, const tape::Tape& tape, std::span<float> sums);
/// Adds the sums over all of these to the totals, by which the sums were made.
void take_totals(tape::Parameters& parameters, std::span<const float> sums);

// With mixed heads, of the examples that are learned from.

/// The steps of all mixers, example by example, and what they forget. Without mixers nothing is
/// forgotten: somebody else has them.
void step_mixers(tape::Parameters& parameters, const tape::Tape& tape, const block::Config& config,
                 std::size_t begin, std::size_t end);
/// Base rate, clicks and counts of every feature, and the largest value seen.
void count_features(table::Tables& tables, tape::Parameters& parameters, const tape::Tape& tape,
                    const block::Config& config, std::size_t begin, std::size_t end);

}  // namespace leveret::optim
