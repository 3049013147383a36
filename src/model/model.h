/// A model: its spec, its features' meaning, and all that it has learned. Blocks read it,
/// optimizers write it, files keep it; it computes nothing itself.
///
/// It has a large part (tables and what features mean), which replicas share, and a small one that
/// every example writes (Parameters), of which a replica has its own: two cores that write the same
/// few lines for every example would mostly wait for each other.
///
/// Threads: reading is free for all; tables as table::Shard says. `fit_fields` and what else
/// changes shape needs the model and all its replicas to itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "block/config.h"
#include "block/parameters.h"
#include "feature/feature_map.h"
#include "model/spec.h"
#include "table/tables.h"

namespace leveret::model {

using block::Parameters;

/// Whether rows have what learning needs beside the weights.
enum class Use { kLearn, kPredict };

class Model {
 public:
  /// A new model, knowing nothing. `memory_limit` in bytes: all tables together.
  Model(Spec spec, std::uint64_t memory_limit);
  /// The frame of a stored model: tables and parameters of the right shape, to be filled. `rows`:
  /// how the weights of each part of rows are stored, where not as the spec says.
  Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit,
        Use use = Use::kLearn, std::vector<kernels::Codec> rows = {});

  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  /// A second model over the same tables, with parameters of its own.
  Model replica() const { return Model(*this); }

  const Spec& spec() const { return spec_; }
  /// Learning options may change between runs; shape may not.
  void set_spec(Spec spec) { spec_ = std::move(spec); }
  /// What blocks need to know of the spec.
  block::Config config() const;

  feature::FeatureMap& features() { return shared_->features; }
  const feature::FeatureMap& features() const { return shared_->features; }
  table::Tables& tables() { return shared_->tables; }
  const table::Tables& tables() const { return shared_->tables; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  /// Brings tables and layers to the number of fields that features() has found. Cheap when
  /// nothing changed.
  void fit_fields();

 private:
  struct Shared {
    Shared(const Spec& spec, const block::Config& config, std::vector<feature::NamespacePlan> plans,
           std::uint64_t memory_limit, Use use);
    feature::FeatureMap features;
    table::Tables tables;
  };
  Model(const Model&) = default;

  Spec spec_;
  std::vector<kernels::Codec> rows_;  ///< of each part of rows, where not as spec_ says
  std::shared_ptr<Shared> shared_;
  Parameters parameters_;
};

}  // namespace leveret::model
