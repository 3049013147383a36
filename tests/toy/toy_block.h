/// A block that no program has but those of tests: whether one pair of files, and a line that
/// registers it, are all that a new block takes.
///
/// A bilinear score over the first two fields that a model meets, a and b. With u = sum x v over
/// the features of a, w = the same over those of b, and a matrix M (4 x 4) that it learns:
///   t = M w,   score = u . t + c sum over a of (x v . t)²
/// The second sum depends on the first ones, so that partitions add up in two rounds; and with it
///   q = d score / d t = u + 2 c sum over a of (x v . t) x v
/// which the way back needs everywhere: d M = q w', d w = M' q.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/residual_score.h"
#include "tape/gradients.h"

namespace leveret::toy {

class ToyBlock final : public block::Block, public tape::RowGradients {
 public:
  static constexpr std::size_t kDim = 4;
  using Vector = std::array<float, kDim>;

  ToyBlock(const kernels::Kernels&, const block::Config& config) : config_(config) {}
  static bool is_in(const block::Config& config) { return config.has_ffm(); }

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void declare_rows(std::vector<block::Rows>& parts) override;
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  void forward(const block::Run& run) const override;
  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    put_score(tape, b);
  }

  block::Split split() const override { return block::Split::kSums; }
  void partial(const block::Run& run) const override;
  void finish(const block::Run& run) const override;
  void finish_back(const block::Run& run) const override;
  void partial_back(const block::Run& run) const override;

  std::size_t floats(const tape::Parameters&) const override { return kDim; }
  void add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
           float* const* sums) const override;
  void each(const tape::Parameters& parameters, tape::Tape& tape,
            tape::RowVisitor& visitor) const override;

 private:
  // The sums of an example's features in the two rounds.
  struct First {
    Vector u{}, w{};
  };
  struct Second {
    float squares = 0;
    Vector along{};  ///< sum of (x v . t) x v
  };
  template <class Take>
  void for_each_vector(const tape::Tape& tape, std::size_t b, Take take) const;
  template <class Take>
  void for_each_gradient(const tape::Tape& tape, std::size_t b, Take take) const;
  First first(const tape::Tape& tape, std::size_t b) const;
  Second second(const tape::Tape& tape, std::size_t b, const Vector& t) const;
  Vector make_t(const tape::Parameters& parameters, const Vector& w) const;
  void put(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b, const First& of,
           const Second& more) const;
  void put_score(tape::Tape& tape, std::size_t b) const;

  block::Config config_;
  table::RowPart row_;
  std::size_t part_ = 0;
  tape::ArrayId matrix_ = tape::ArrayId::kNone;
  tape::TensorId w_{}, t_{}, q_{}, d_w_{}, score_{};
  block::ResidualScore head_;
  struct {
    tape::SumId u, w, squares, along;
  } sums_{};
};

}  // namespace leveret::toy
