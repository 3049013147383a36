/// Field-weighted factorization machine over embeddings (Pan et al., Field-weighted Factorization
/// Machines for Click-Through Rate Prediction in Display Advertising, WWW 2018, equation 4). With
/// the e_f of the fields (embedding_block.h) and a learned r for each pair of fields, at first 1:
///   sum over pairs f < g of r_fg <e_f, e_g>,
/// times sqrt(n) / |x|² (EmbeddingBlock::kScale). On the way back, with d = d loss / d score and
/// u_f = sum over g of r_fg e_g:   d e_f = d u_f,   d r_fg = d <e_f, e_g>.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "block/tower/tower_score.h"

namespace leveret::block {

class FwfmBlock final : public Block {
 public:
  FwfmBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels), config_(std::move(config)), tower_(std::move(tower)) {}

  /// Its array is NAME.r, {F (F - 1) / 2}: that of f < g is at g (g - 1) / 2 + f.
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  /// Adds to its head.
  void forward(const Run& run) const override;
  /// Writes the gradient of the embeddings, and hands on that of r.
  void finish_back(const Run& run) const override;
  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    score_.put(tape, b);
  }

  Split split() const override { return Split::kBehindSums; }

  // With contexts it has a sum of its own: a context's pairs among themselves, and those that a
  // candidate's fields make with each other and with the u of the context, which is cached.

  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  std::unique_ptr<Share> share(const tape::Parameters& parameters,
                               const tape::Partition& partition) const override;
  void partial(const Run& run) const override;
  std::unique_ptr<CachedPart> cache_context(const tape::Tape& tape, Share* share) const override;
  void use_context(Share* candidates, CachedPart* context) const override;
  void finish(const Run& run) const override;

 private:
  struct ContextPart;
  struct ContextShare;
  struct CandidateShare;
  float context_pairs(const tape::Parameters& parameters, const float* e,
                      ContextShare& share) const;
  float candidate_pairs(const float* e, CandidateShare& share) const;

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  std::size_t d_ = 0;  ///< numbers of an embedding
  tape::TensorInput fields_;
  tape::TensorId scale_ = tape::TensorId::kNone;
  tape::TensorId mixed_ = tape::TensorId::kNone;  ///< F * d: u_f
  tape::ArrayId r_ = tape::ArrayId::kNone;
  TowerScore score_;
  struct {
    tape::SumId embeddings = tape::SumId::kNone, pairs = tape::SumId::kNone;
  } sums_;
};

}  // namespace leveret::block
