/// Factorization machine over embeddings (Rendle, Factorization Machines, ICDM 2010; the FM part of
/// DeepFM: Guo et al., IJCAI 2017, section 3.1). With the e_f of the fields (embedding_block.h):
///   sum over pairs f < g of <e_f, e_g> = (|sum e_f|² - sum |e_f|²) / 2,
/// times sqrt(n) / |x|² (EmbeddingBlock::kScale). With pairs=all the features of a field make pairs
/// with each other, too, as in Rendle's lemma 3.1: (|S|² - Q) / 2 with EmbeddingBlock::kSums, which
/// are all that ranks send for it, as the DES paper has FMs (section 4).
#pragma once

#include <cstddef>
#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "block/tower/tower_score.h"
#include "kernels/kernels.h"

namespace leveret::block {

class FmTowerBlock final : public Block {
 public:
  FmTowerBlock(const kernels::Kernels& kernels, Config config, Tower tower)
      : kernels_(&kernels),
        config_(std::move(config)),
        tower_(std::move(tower)),
        all_(tower_.number("pairs") == 1) {}

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  /// Adds to its head.
  void forward(const Run& run) const override;
  void add_score(const tape::Parameters&, tape::Tape& tape, std::size_t b) const override {
    score_.put(tape, b);
  }

  /// Partitions add up d + 1 numbers: with pairs=all EmbeddingBlock's, else its own.
  Split split() const override { return all_ ? Split::kBehindSums : Split::kSums; }
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  void finish_back(const Run& run) const override {
    if (all_) embeddings_back(run);
  }
  void partial_back(const Run& run) const override {
    if (!all_) embeddings_back(run);
  }

 private:
  /// Writes the gradient of the embeddings.
  void embeddings_back(const Run& run) const;
  /// The score of example b. `sum`: d numbers; `squares`: what is taken away.
  void put_score(tape::Tape& tape, std::size_t b, const float* sum, float squares) const;

  const kernels::Kernels* kernels_;
  Config config_;
  Tower tower_;
  bool all_;           ///< pairs=all
  std::size_t d_ = 0;  ///< numbers of an embedding
  tape::TensorInput in_;
  tape::TensorId scale_ = tape::TensorId::kNone;
  tape::TensorId sum_ = tape::TensorId::kNone;  ///< d: sum of e_f; not with pairs=all
  TowerScore score_;
  struct {
    tape::SumId vector = tape::SumId::kNone, squares = tape::SumId::kNone;
  } sums_;
};

}  // namespace leveret::block
