/// A layer of a DHEN (Zhang et al. 2022, equations 1 and 2). Its modules i make U_i, l tokens each,
/// from tokens X, and it makes
///   Y = norm(ensemble of all U_i + shortcut X),
/// where norm is that of each token (layer_norm.h), or nothing; the ensemble is
///   sum:       sum over i of U_i,
///   weighted:  sum over i of w_i U_i, with w_i that begin as 1,
///   concat:    all tokens of U_1, then those of U_2, …; as many as l times modules;
/// and the shortcut is X where Y has as many tokens as X, W_n X of as many as Y has (token_mix.h)
/// where it has not, or nothing. The fields of the first layer are as many as there come: its
/// shortcut has a W_n.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block/module/layer_norm.h"
#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

/// How what the modules make becomes one.
enum class Ensemble : std::uint8_t { kSum, kWeighted, kConcat };

class DhenLayer {
 public:
  struct Plan {
    std::vector<std::uint32_t> modules;  ///< numbers of kinds (module_kinds.h)
    Ensemble ensemble;
    bool shortcut, norm;
  };
  /// `place`: of the layer; `tokens` are those of each module.
  DhenLayer(const ModulePlace& place, Plan plan);

  /// Over tokens with a gradient. Makes the tensor `out`.
  Tokens declare(const std::string& out, const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations);
  void open(const tape::Parameters& parameters, tape::Tape& tape) const;
  void forward(const Run& run) const;
  /// From the gradient of what it makes; writes that of its input. `back`: as many floats, for
  /// working.
  void backward(const Run& run, float* back) const;

 private:
  void put_together(const Run& run, float* sums) const;
  void hand_out(const Run& run, const float* d_sums) const;

  ModulePlace place_;
  Plan plan_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<Tokens> made_;  ///< by module
  TokenMix shortcut_;
  LayerNorm norm_;
  Tokens in_, out_;
  Tokens skipped_;                                ///< W_n X
  Tokens sums_;                                   ///< what is normalised; else `out_`
  tape::ArrayId weights_ = tape::ArrayId::kNone;  ///< by module: w
};

}  // namespace leveret::block
