/// Embeddings: a vector v of d numbers for each feature of a field that has a row, which all towers
/// over them share (DES paper, section 4; Covington et al., Deep Neural Networks for YouTube
/// Recommendations, RecSys 2016). A field's features of an example have one,
///   e_f = sum x_i v_i,   or with Pool::kMean   e_f = sum x_i v_i / sum |x_i|,
/// over those of its features that have a row; 0 where there are none.
///
/// Numbers of e are brought within ±kMost (those of kSums within powers of it) where they are made,
/// so that values of any size leave sums of squares finite. In partitions of a model each field is
/// in one of them, which makes its e. Towers that go field by field take these there (kOwnFields);
/// for the others F · d numbers are added up (kFields).
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "block/instance_sum.h"
#include "kernels/kernels.h"

namespace leveret::block {

class EmbeddingBlock final : public Block, public tape::RowGradients {
 public:
  EmbeddingBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels),
        config_(std::move(config)),
        row_(config_.find_rows(Rows::Kind::kEmbedding)->part) {}

  static bool is_in(const Config& config) { return config.has_embeddings(); }
  static constexpr float kMost = 1e4f;
  /// F * d, e of field f from f * d on: everyone's, for blocks that need all fields.
  static constexpr const char* kFields = kEmbeddings;
  /// The same of the fields that a partition has, of the others 0: for blocks that it can do its
  /// part of.
  static constexpr const char* kOwnFields = "embedding.own";
  /// 1: sqrt(n) / |x|² of the example's n features, by which towers that multiply embeddings scale
  /// what they make (ffm_block.h: instance normalisation).
  static constexpr const char* kScale = "embedding.scale";
  /// d + 1: S = sum x_i v_i and Q = sum |x_i v_i|² over all features, divided as e is.
  static constexpr const char* kSums = "embedding.sums";
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void declare_rows(std::vector<Rows>& parts) override;
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;

  void forward(const Run& run) const override;

  Split split() const override { return Split::kSums; }
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  /// Hands on its part of rows.
  void partial_back(const Run& run) const override;

  // The gradients of rows.
  std::size_t floats(const tape::Parameters&) const override { return row_.k; }
  void add(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
           float* const* sums) const override;
  void each(const tape::Parameters& parameters, tape::Tape& tape,
            tape::RowVisitor& visitor) const override;
  tape::VectorGradients vectors(const tape::Parameters& parameters,
                                tape::Tape& tape) const override;

 private:
  /// Calls take(field, feature, at, factor) for each feature of example b with a row: its vector
  /// lies `at` bytes from the row's beginning, and e of the field has `factor` times the vector.
  template <class Take>
  void for_each_feature(const tape::Tape& tape, std::size_t b, Take take) const;
  /// Fills two tensors of example b, where they are 0 before; empty: nobody reads it.
  void put(tape::Tape& tape, std::size_t b, std::span<float> fields, std::span<float> sums) const;
  void put_all(tape::Tape& tape, std::size_t b, std::span<float> all, std::span<float> sums) const;
  /// d loss / d e of all fields, by all readers, after `partial_back`; null: there is none.
  const float* d_of_fields(const tape::Tape& tape, std::size_t b) const {
    const tape::TensorPlace& place = tape[own_].readers > 0 ? tape[own_] : tape[fields_];
    return place.readers > 0 ? place.d_at(b) : nullptr;
  }
  /// Adds d loss / d v of a feature of example b, whose v lies at `vector`, to `to`.
  void add_gradient(tape::Tape& tape, std::size_t b, std::uint32_t field, const std::byte* vector,
                    float factor, float* to) const;
  tape::VectorGradients own_gradients(tape::Tape& tape) const;

  const kernels::Kernels* kernels_;
  Config config_;
  table::RowPart row_;
  std::size_t part_ = 0;  ///< of rows
  tape::TensorId fields_ = tape::TensorId::kNone, own_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone;
  tape::TensorId sums_ = tape::TensorId::kNone;
  tape::TensorId vector_ = tape::TensorId::kNone;  ///< k: one feature's
  tape::SumId fields_sum_ = tape::SumId::kNone,
              sums_sum_ = tape::SumId::kNone;  ///< of what is read
  InstanceSum instance_;
};

}  // namespace leveret::block
