/// Modules of interaction: what the layers of a DHEN are made of (Zhang et al., DHEN: A Deep and
/// Hierarchical Ensemble Network for Large-Scale CTR Prediction, 2022, section 2.3).
///
/// A module makes l tokens from m tokens, all of D numbers. The tokens of the first layer are the
/// embeddings of the fields, and before them one of dense numbers, if there are some
/// (number_token.h): there m grows with the fields. A token that comes later comes last. Each
/// module stands behind the sums of partitions (Split::kBehindSums), and goes over all examples of
/// a tape at once.
///
/// The layer keeps what a module makes, and the gradients that it hands back, within bounds
/// (dhen_layer.h).
///
/// Shapes: B examples; tokens of an example lie one behind the other, D numbers each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "block/block.h"
#include "block/config.h"
#include "kernels/kernels.h"

namespace leveret::block {

/// A tensor of tokens, and how many an example has.
struct Tokens {
  tape::TensorId id = tape::TensorId::kNone;
  std::uint32_t width = 0;  ///< D
  std::uint32_t fixed = 0;  ///< tokens of an example; 0: `of_field` tokens for each field
  std::uint32_t of_field = 1;
  std::uint32_t before = 0;  ///< tokens before those of fields

  /// 0 as long as there is no field.
  std::uint32_t count(const tape::Extent& extent) const {
    if (fixed > 0) return fixed;
    return extent.fields > 0 ? before + extent.fields * of_field : 0;
  }
  std::uint32_t size(const tape::Extent& extent) const { return count(extent) * width; }
};

/// The arguments with which a module is made.
struct ModulePlace {
  std::string name;      ///< its arrays and tensors are called NAME.…
  std::uint32_t tokens;  ///< l
  const kernels::Kernels* kernels;
  const Config* config;  ///< it and the tower outlive the module
  const Tower* tower;    ///< whose keys its own settings are

  /// A setting that all modules of the tower share.
  std::uint32_t setting(const char* key) const { return tower->number(key); }
};

/// Const once it is declared, and without state of an example, as blocks are.
class Module {
 public:
  virtual ~Module() = default;

  /// Declares what it learns and makes, over tokens that have a gradient. Returns what it makes: l
  /// tokens with a gradient. It runs with more fields than it declared with, so that it keeps
  /// nothing that depends on the extent.
  virtual Tokens declare(const Tokens& in, const tape::Extent& extent,
                         tape::Declarations& declarations) = 0;
  /// Makes room for the gradients of arrays that it learns beside layers.
  virtual void open(const tape::Parameters&, tape::Tape&) const {}
  virtual void forward(const Run& run) const = 0;
  /// From the gradient of what it makes: hands on those of what it learns, and writes d loss / d in
  /// of all examples to d_in, B * m * D. It hands each layer on once, also one without rows, the
  /// last declared first. All tensors of examples that are not learned from are 0 by then.
  virtual void backward(const Run& run, float* d_in) const = 0;
};

}  // namespace leveret::block
