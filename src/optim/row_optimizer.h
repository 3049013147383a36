/// How the rows of features move, part by part (table/row_layout.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "optim/bounded.h"
#include "optim/distinct.h"
#include "rules/rule.h"
#include "table/aligned.h"
#include "table/row_layout.h"
#include "table/slot.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// The name of a feature with a row.
struct RowName {
  std::uint32_t field;
  table::Key key;
};

/// Owned by a thread, with working memory of its own. Stochastic rounding takes its noise from
/// (seed, field, key, slot, examples learned); where an example is learned alone, from (seed,
/// thread, examples learned) and the order of its rows.
class RowOptimizer {
 public:
  RowOptimizer(const kernels::Kernels& kernels, const block::Config& config, std::uint32_t seed,
               std::uint32_t thread);

  /// The steps of one part. A tape of a single example (Tape::is_single) steps from the factors of
  /// gradients, others from the sums of each row.
  void step(const tape::Parameters& parameters, tape::Tape& tape, std::size_t part,
            const tape::RowGradients& gradients);
  /// Calls visit(row, sums) for each row of the tape in place of a step: a sum for each weight of
  /// the part, which stays until the next call.
  void visit_sums(const tape::Parameters& parameters, tape::Tape& tape, std::size_t part,
                  const tape::RowGradients& gradients,
                  const std::function<void(const std::byte*, const float*)>& visit);
  /// The step of a row by such sums, those of all parts, one behind the other.
  void step_row(const tape::Parameters& parameters, const table::RowLayout& layout, RowName name,
                std::byte* row, const float* sums);

 private:
  /// A row that a batch learns.
  struct BatchRow {
    std::byte* row;
    std::uint32_t field;
    std::uint32_t noise;      ///< of its step
    std::uint32_t times = 0;  ///< it comes in the batch
    std::uint32_t sum = 0;    ///< where it comes several times: which of row_sums_
  };
  /// A row that comes once: its sum is of one example, after which it takes its step.
  struct SingleRow {
    std::uint32_t number;
    float* sum;
  };
  /// Steps each row that it visits.
  class Visitor;

  void step_single(const tape::Parameters& parameters, tape::Tape& tape, std::size_t part,
                   const tape::RowGradients& gradients);
  void step_pairs(const table::RowLayout& layout, std::size_t part,
                  const tape::PairGradients& pairs);
  std::byte* const* widened(const table::RowLayout::Column& weights,
                            const tape::PairGradients& pairs);
  void step_vectors(const table::RowLayout& layout, std::size_t part,
                    const tape::VectorGradients& vectors);
  void step_factors(const table::RowLayout& layout, std::size_t part, std::byte* row,
                    const float* contra, const float* delta);
  void step_floats(const table::RowLayout& layout, std::size_t part, const std::byte* row,
                   const float* contra, const float* delta);
  void step_slots(const table::RowPart& part, const rules::Rule& rule, const float* contra,
                  const float* delta);
  void step_by_sum(const table::RowLayout& layout, std::size_t part, const BatchRow& row,
                   const float* sum);
  void step_slots_by_sum(const table::RowLayout& layout, std::size_t part, const BatchRow& row,
                         const float* sum);

  template <class Take>
  void each_row_sum(const tape::Parameters& parameters, tape::Tape& tape, std::size_t part,
                    const tape::RowGradients& gradients, Take take);
  void meet_rows(const tape::Tape& tape);
  void place_sums(const tape::Tape& tape, std::size_t b);
  float* sum_of_row(std::uint32_t number);

  void seed_noise(const tape::Parameters& parameters, const table::RowLayout& layout,
                  std::size_t part);
  std::uint32_t noise_of(RowName name) const;
  std::uint32_t next_noise();

  const kernels::Kernels* kernels_;
  std::vector<rules::RulePtr> rules_;  ///< by part
  std::uint32_t seed_, thread_;
  std::uint64_t noise_ = 0;  ///< of stochastic rounding
  BoundedGradients bounded_;
  std::vector<float> row_, gradient_, ones_;
  std::array<std::vector<float>, rules::kMostStates> row_states_;
  std::vector<std::byte*> states_;  ///< of rows in place
  std::vector<std::byte*> copies_;  ///< of rows of fewer than 16 bits in place
  table::AlignedBytes wide_;        ///< where these lie

  // The rows of a batch.
  Distinct distinct_;
  std::vector<BatchRow> rows_;              ///< by number
  std::vector<std::uint32_t> row_numbers_;  ///< by feature of a field
  std::size_t row_floats_ = 0;              ///< from one of the sums to the next
  table::AlignedFloats row_sums_;           ///< of rows that come several times
  table::AlignedFloats single_sums_;        ///< of an example's others
  std::vector<SingleRow> singles_;          ///< of the example
  std::vector<float*> sums_;                ///< by feature of the example: where it is added
};

}  // namespace leveret::optim
