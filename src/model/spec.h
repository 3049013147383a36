/// Everything that defines a model: what it is made of and how it learns. Stored as JSON in the
/// model file's header, so that `-i MODEL` needs no option again. spec_entries.h lists the names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feature/feature_map.h"
#include "text/hash.h"

namespace leveret::model {

/// Learning of one part: w -= rate * g / G^power_t with G = init_acc + sum of g².
struct PartLearning {
  float rate;
  float power_t;
  float init_acc;
};

enum class OptimizerKind {
  kAdagrad,  ///< every part by AdaGrad with its power_t
  kSgd,      ///< every part by plain gradient descent
  kFtrl,     ///< linear part by FTRL-proximal (McMahan et al. 2013), the others by AdaGrad
  kAdam,     ///< dense layers by Adam (Kingma and Ba 2015; batch mode), the others by AdaGrad
};

enum class Heads {
  kMixed,  ///< linear, counts, and all of it learn apart and are mixed by weights learned online
  kOne,    ///< one sum learned from one loss, as in VW and in the FW paper
};

struct Spec {
  // ---- text ----
  text::HashMode hash = text::HashMode::kStrings;
  std::uint32_t hash_seed = 0;

  // ---- shape ----
  feature::FeatureOptions features;
  Heads heads = Heads::kMixed;
  bool constant = true;
  std::uint32_t bit_precision = 0;  ///< 0: growing table
  std::uint32_t ffm_k = 4;          ///< 0: no FFM
  std::uint32_t ffm_bits = 0;       ///< 0: growing tables
  std::uint32_t admit = 0;          ///< 0: see FieldTable::sights_needed
  bool adagrad_slice = true;
  std::uint32_t ffm_precision = 16;  ///< bits of a stored FFM weight: 16 or 32
  std::vector<std::uint32_t> hidden{32};  ///< empty: no MLP
  float ffm_init_width = 0.15f;           ///< first weights: uniform with deviation this / sqrt(k)
  std::uint32_t seed = 0;

  // ---- learning ----
  OptimizerKind optimizer = OptimizerKind::kAdagrad;
  PartLearning linear{0.05f, 0.5f, 1.0f};
  PartLearning ffm{0.15f, 0.5f, 0.02f};
  PartLearning nn{0.03f, 0.5f, 1.0f};
  float l1 = 0.0f;         ///< FTRL only
  float l2 = 0.0f;
  float ftrl_beta = 1.0f;  ///< FTRL only; alpha is linear.rate
  std::uint32_t batch_size = 1;
  std::uint32_t nn_batch_size = 1;  ///< of the MLP alone; with batch_size 1

  bool has_ffm() const { return ffm_k > 0; }
  bool has_mlp() const { return ffm_k > 0 && !hidden.empty(); }
  bool mixed() const { return heads == Heads::kMixed; }
  /// Whether a block asks how much of the linear part comes from each group of features.
  bool uses_groups() const { return mixed() || has_mlp(); }

  /// `features` with what else a FeatureMap needs to know.
  feature::FeatureOptions map_options() const {
    feature::FeatureOptions options = features;
    options.field_features = has_ffm();
    options.hash = hash;
    options.hash_seed = hash_seed;
    return options;
  }
};

}  // namespace leveret::model
