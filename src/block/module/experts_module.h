/// An MLP over all tokens of an example, or a mixture of several (Shazeer et al., Outrageously
/// Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer, ICLR 2017, equations 1 and 3
/// to 5, without noise). With x the m D numbers of all tokens, each expert e makes l tokens (DHEN
/// paper, section 2.3),
///   y_e = V_e ReLU(U_e x + b_e) + c_e,     where U_e makes `width` numbers;
/// the gate chooses the `top` experts with the largest s = G x + h, and
///   u = sum over these of g_e y_e,   g_e = exp s_e / sum over these j of exp s_j.
/// Experts that are not chosen are not computed. With one expert there is no gate, and u = y.
/// Shazeer's losses that balance the experts (section 4) are left out: one that is never chosen
/// never learns. So the mean of each g over all examples (his importance, equation 6, by their
/// number) is kept beside what is learned: kLoad. On the way back:
///   d y_e = g_e d u,   d s_e = g_e (<d u, y_e> - sum over the chosen j of g_j <d u, y_j>).
///
/// 2 top width (m + l) D floating point operations of an example, and 2 m D experts of the gate.
#pragma once

#include <vector>

#include "block/dense/dense_rows.h"
#include "block/module/module.h"

namespace leveret::block {

class ExpertsModule final : public Module {
 public:
  /// Behind the module's name, the totals of g (tape::TotalsDecl).
  static constexpr const char* kLoad = ".load";
  /// `top` is at most `experts`.
  ExpertsModule(const ModulePlace& place, std::uint32_t experts, std::uint32_t top);

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  struct Expert {
    DenseRows widen, narrow;
  };
  /// The rows that pass the experts, at most B * top, those of expert 0 first.
  struct Routes;
  void choose(const Run& run, Routes& routes) const;
  void gather(const Run& run, Routes& routes) const;
  /// g of expert e for example b.
  float share(const Run& run, std::size_t b, std::size_t e) const;
  void make_d_of_experts(const Run& run, Routes& routes) const;
  void gate_back(const Run& run, float* d_in) const;

  ModulePlace place_;
  std::uint32_t top_, width_;
  Tokens in_, out_;
  std::vector<Expert> experts_;
  DenseRows gate_;
  tape::TensorId scores_ = tape::TensorId::kNone;  ///< experts: s
  tape::TensorId shares_ = tape::TensorId::kNone;  ///< experts: g; 0 of those not chosen
  tape::MemoryId routes_ = tape::MemoryId::kNone;
};

}  // namespace leveret::block
