/// Dense numbers: the values of namespaces that are a number (--numeric), as layers take them (DHEN
/// paper, section 2.1; Naumov et al., Deep Learning Recommendation Model for Personalization and
/// Recommendation Systems, 2019). Each number x comes twice, as it is and as a logarithm,
///   u = x,   u = sign(x) log(1 + |x|),
/// standardised by the mean and variance of the examples that were learned before this one or its
/// batch, and kept within ±kMost:
///   z = (u - mean) / sqrt(variance);   0 as long as all were the same.
/// The first keeps the scale, the second bears values of any size. A number that an example lacks
/// is 0, as a feature is.
///
/// Numbers are added up over the partitions of a model, of which one has each: a context's and a
/// candidate's, those of shard 0.
///
/// Shapes: N numbers of an example.
#pragma once

#include "block/block.h"
#include "block/config.h"
#include "kernels/kernels.h"

namespace leveret::block {

class NumbersBlock final : public Block {
 public:
  NumbersBlock(const kernels::Kernels&, const Config& config) : count_(config.numbers) {}

  static bool is_in(const Config& config) { return config.numbers > 0; }
  static constexpr float kMost = 5;
  /// 2 N: z of all numbers as they are, then of their logarithms. It has a gradient, which nobody
  /// reads.
  static constexpr const char* kStandard = kNumbers;

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  Split split() const override { return Split::kSums; }
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  void forward(const Run& run) const override;
  bool needs_fields() const override { return false; }

 private:
  void standardise(const Run& run, std::size_t b) const;

  std::uint32_t count_;                              ///< N
  tape::TensorId both_ = tape::TensorId::kNone;      ///< 2 N: u
  tape::TensorId standard_ = tape::TensorId::kNone;  ///< 2 N: z
  tape::SumId sum_ = tape::SumId::kNone;             ///< N: x
  std::size_t totals_ = 0;                           ///< in Scalars::totals
};

}  // namespace leveret::block
