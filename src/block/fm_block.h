/// Factorization machine (Rendle, Factorization Machines, ICDM 2010): with a vector v_i of k
/// weights for each feature of a field that has a row,
///   sum over pairs i < j of <v_i, v_j> x_i x_j = (|sum x_i v_i|² - sum |x_i v_i|²) / 2,
/// over all features of the example, whatever their fields. The score grows by that sum times
/// sqrt(n) / |x|² over its n features, by which FfmBlock scales its pairs, too.
///
/// The vectors are a part of rows of their own. An example that comes in partitions (a context and
/// its candidates, fields of several ranks) has sums that are added: k floats and a number.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/ffm_block.h"
#include "block/residual_score.h"
#include "kernels/kernels.h"

namespace leveret::block {

class FmBlock final : public Block, public tape::RowGradients {
 public:
  explicit FmBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(kernels),
        config_(std::move(config)),
        row_(config_.find_rows(Rows::Kind::kFm)->part) {}

  static bool is_in(const Config& config) { return config.has_fm(); }
  /// The k that are used, where layers read the FM: scale · ((sum x v)² - sum (x v)²) / 2, by
  /// component, whose sum is the FM's score (bi-interaction pooling: He and Chua, Neural
  /// Factorization Machines, SIGIR 2017, equation 4).
  static constexpr const char* kPooled = "fm.pooled";
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void declare_rows(std::vector<Rows>& parts) override;

  /// Adds to its head; writes sums and scale.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  std::string why_not_in_partitions() const override { return {}; }
  std::string why_not_in_contexts() const override { return {}; }
  void partial(const tape::Parameters& parameters, tape::Tape& tape,
               const tape::Partition& partition, Share* share, std::size_t begin, std::size_t end,
               const tape::BatchSums<float>& sums) const override;
  void finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share, std::size_t begin,
              std::size_t end, const tape::BatchSums<const float>& sums) const override;
  void partial_back(const tape::Parameters& parameters, tape::Tape& tape, const tape::Partition&,
                    Share*) const override {
    backward(parameters, tape);
  }
  /// Hands on its part of rows.
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;
  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    put_score(tape, b);
  }

  // The gradients of rows.
  std::size_t floats(const tape::Parameters&) const override { return row_.k; }
  void add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
           float* const* sums) const override;
  void each(const tape::Parameters& parameters, tape::Tape& tape,
            tape::RowVisitor& visitor) const override;
  tape::VectorGradients vectors(const tape::Parameters& parameters,
                                tape::Tape& tape) const override;

  // Tensors that it keeps for the way back.

  /// k: sum of x v; where layers read the FM, k more: sum of (x v)².
  tape::TensorId sums() const { return sums_; }
  /// How many these are.
  std::size_t sum_floats() const {
    return std::size_t{row_.k} * (config_.layers_read_fm() ? 2 : 1);
  }

 private:
  /// The numbers that features add, beside the sum of x v.
  struct Sums {
    float squares = 0;  ///< of |x v|
    InstanceSums instance;
  };
  /// Adds what the features of example b have to `sum`, of sum_floats(), and to `others`.
  void add(tape::Tape& tape, std::size_t b, float* sum, Sums& others) const;
  /// The score.
  void finish(tape::Tape& tape, std::size_t b, const float* sum, const Sums& others) const;
  void put_score(tape::Tape& tape, std::size_t b) const;
  void put_pooled(tape::Tape& tape, std::size_t b, const float* sum) const;
  /// Calls take(feature, x, v) for each feature of example b with a row; v may be written over.
  template <class Take>
  void for_each_vector(tape::Tape& tape, std::size_t b, Take take) const;
  /// Calls take(feature, gradient) for each of them.
  template <class Take>
  void for_each_gradient(tape::Tape& tape, std::size_t b, Take take) const;

  /// Puts them on the tape, for its only example.
  void collect(tape::Tape& tape) const;

  const kernels::Kernels& kernels_;
  Config config_;
  table::RowPart row_;
  std::size_t part_ = 0;  ///< of rows
  tape::TensorId sums_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone;   ///< 1: instance normalisation
  tape::TensorId pooled_ = tape::TensorId::kNone;  ///< kNone: layers do not read it
  tape::TensorId score_ = tape::TensorId::kNone;   ///< 1: what it adds
  tape::TensorId vector_ = tape::TensorId::kNone;  ///< k: one feature's
  ResidualScore head_;
  tape::SumId vector_sum_ = tape::SumId::kNone;  ///< sums()
  /// The sum of |x v|² is squares_sum_; with one score it is scaled and in score_sum_, the linear
  /// part's.
  tape::SumId squares_sum_ = tape::SumId::kNone, score_sum_ = tape::SumId::kNone;
  InstanceSum instance_;
};

}  // namespace leveret::block
