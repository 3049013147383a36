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
#include <utility>
#include <vector>

#include "block/config.h"
#include "feature/feature_map.h"
#include "model/sightings.h"
#include "schema/schema.h"
#include "spec/spec.h"
#include "table/tables.h"
#include "tape/parameters.h"

namespace leveret::model {

using spec::Spec;
using tape::Parameters;

/// Whether rows have what learning needs beside the weights.
enum class Use { kLearn, kPredict };

/// The kind of cell that the linear stage keeps of a feature.
table::CellKind cell_kind(const Spec& spec);

class Model {
 public:
  /// A new model, knowing nothing. `memory_limit` in bytes: all tables together. std::runtime_error
  /// where its layers would take more (learning_memory.h).
  Model(Spec spec, std::uint64_t memory_limit);
  /// The frame of a stored model: tables and parameters of the right shape, to be filled. `rows`:
  /// how the weights of each part of rows are stored, where not as the spec says.
  Model(Spec spec, std::vector<feature::NamespacePlan> plans, std::uint64_t memory_limit,
        Use use = Use::kLearn, std::vector<kernels::Codec> rows = {});

  /// A part of a model, of which others have the rest: over features that parts may share and
  /// tables of its own (Tables::is_part). Who makes it brings its tables and parameters to the
  /// number of fields, in place of fit_fields.
  Model(Spec spec, std::shared_ptr<feature::FeatureMap> features,
        std::shared_ptr<table::Tables> tables);

  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  /// A second model over the same tables, with parameters of its own.
  Model replica() const { return Model(*this); }

  const Spec& spec() const { return spec_; }
  /// Learning options may change between runs; shape may not.
  void set_spec(Spec spec);
  /// spec::config_of its spec.
  block::Config config() const;

  feature::FeatureMap& features() { return *features_; }
  const feature::FeatureMap& features() const { return *features_; }
  table::Tables& tables() { return *tables_; }
  const table::Tables& tables() const { return *tables_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  /// Any model may be told of what it has taken: no prediction depends on it.
  Sightings& sightings() const { return *sightings_; }

  /// Who held what when it was learned in shards (dist::Plan::words), so that it can be learned on
  /// with the same sums; empty if it never was.
  const std::vector<std::uint64_t>& plan() const { return plan_; }
  void set_plan(std::vector<std::uint64_t> words) { plan_ = std::move(words); }

  /// How the rows are read that it learned, which may still become more as it learns; null: it has
  /// learned VW text alone. No prediction of VW text depends on it.
  const std::shared_ptr<schema::SharedSchema>& schema() const { return schema_; }
  void set_schema(std::shared_ptr<schema::SharedSchema> schema) { schema_ = std::move(schema); }

  /// Brings tables and layers to the number of fields that features() has found. Cheap when
  /// nothing changed.
  void fit_fields() {
    sightings_->fit(features().plans().size());
    fit(features().field_count());
  }
  /// The same to so many of them, on the way there: first values may depend on the steps.
  void fit(std::uint32_t fields);

  // For who learns, before anything is changed: std::runtime_error where layers and a batch would
  // take more than --max_memory (learning_memory.h).

  void check_memory(std::uint32_t fields, unsigned threads) const;
  /// With the fields that the example may bring, which is not met yet.
  void check_growth(const text::ExampleChunk& chunk, std::size_t example, unsigned threads) const;

 private:
  Model(const Model&) = default;
  void declare(tape::Extent to);

  Spec spec_;
  std::vector<kernels::Codec> rows_;  ///< of each part of rows, where not as spec_ says
  // Replicas share them.
  std::shared_ptr<feature::FeatureMap> features_;
  std::shared_ptr<table::Tables> tables_;
  std::shared_ptr<Sightings> sightings_ = std::make_shared<Sightings>();
  Parameters parameters_;
  std::vector<std::uint64_t> plan_;
  std::shared_ptr<schema::SharedSchema> schema_;
};

/// What a model's shards are made of; those of fields get their slots as fields come.
table::ShardOptions shard_options(const Spec& spec, const block::Config& config, Use use);

}  // namespace leveret::model
