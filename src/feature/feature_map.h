/// From parsed examples to the features of a model: which namespaces count, which field they
/// belong to, which interactions they form.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "feature/feature_batch.h"
#include "feature/transform.h"
#include "feature/transform_run.h"
#include "text/example.h"
#include "text/hash.h"
#include "text/namespace_names.h"

namespace leveret::feature {

/// Part of the model's spec; stored with it.
struct FeatureOptions {
  std::vector<std::string> ignore;  ///< --ignore: namespaces left out altogether
  std::vector<std::string> keep;    ///< --keep: when not empty, only these count
  bool linear_all = true;           ///< --linear all
  std::vector<std::string> linear;  ///< --linear NS,…: when !linear_all; empty = none
  std::vector<std::vector<std::string>> interactions;  ///< --interactions, -q
  bool field_features = true;                          ///< false: a model without FFM
  std::vector<std::vector<std::string>> fields;        ///< --field; empty: each namespace is one
  std::uint32_t max_fields = 128;                      ///< later namespaces are linear only
  std::vector<Transform> transforms;                   ///< --transform
  /// --numeric: namespaces that are a number, of which no feature is made.
  std::vector<std::string> numeric;
  text::HashMode hash = text::HashMode::kStrings;  ///< as the parser's, for derived features
  std::uint32_t hash_seed = 0;                     ///< as the parser's
};

/// The namespaces of the data whose numbers are read (text::ParserOptions::numbers), for transforms
/// or as they are: each once, in order of their bytes.
std::vector<std::string> number_namespaces(const FeatureOptions& options);

/// The decisions about one namespace, made when it was first met. Stored with the model, so that a
/// later run decides the same.
struct NamespacePlan {
  std::string name;
  bool keep = true;
  bool linear = true;
  std::vector<std::uint32_t> fields;     ///< the fields it belongs to
  std::vector<std::uint32_t> selectors;  ///< interaction selectors it fills, counted through
};

/// An example that cannot be what the options say; what() names its line.
struct BadExample : std::runtime_error {
  BadExample(std::uint32_t source, const std::string& what)
      : std::runtime_error(what), source(source) {}
  std::uint32_t source;  ///< of its chunk
};

/// Working memory of FeatureMap::count. What is in it is of one example.
struct FeatureCounts {
  /// The namespaces that one position of an interaction ranges over.
  struct Group {
    std::vector<std::uint32_t> plans;
    double features = 0;
  };
  std::vector<double> length;        ///< features by plan
  std::vector<std::uint32_t> plans;  ///< those that have some
  std::array<std::vector<Group>, 3> groups;
};

/// Decisions are made by `meet` (one thread, nobody else inside); `map` is const and may run in
/// any number of threads.
class FeatureMap {
 public:
  /// `known` comes from a stored model, in its order; std::runtime_error when it names a field that
  /// the options do not have or lacks a namespace of the transforms. A new model's transforms have
  /// their plans, and so their fields, before any namespace of the data.
  FeatureMap(FeatureOptions options, std::vector<NamespacePlan> known);

  const FeatureOptions& options() const { return options_; }
  const std::vector<NamespacePlan>& plans() const { return plans_; }
  std::uint32_t field_count() const { return field_count_; }
  /// Whether some namespace belongs to several fields.
  bool several_fields() const { return several_fields_; }
  /// Names of the namespaces of each field, comma separated.
  std::vector<std::string> field_names() const;
  /// Namespaces that came after max_fields was reached and have no field for that reason.
  std::uint32_t fieldless() const { return fieldless_; }

  static constexpr std::uint32_t kUnmet = 0xffffffffu;
  /// The number of the plan of the namespace of this name, or kUnmet.
  std::uint32_t find_plan(const std::string& name) const;
  /// Whether a namespace of this name has features, by --ignore, --keep and --numeric.
  bool keeps(const std::string& name) const;

  /// For people: what --transform reads and no line met so far (by this map, not by one whose plans
  /// it took over) had.
  std::vector<std::string> unread() const;

  /// Plans for the namespaces of this example that have none yet, in the line's order: what is
  /// decided depends on the examples learned from, not on how far a parser has run ahead. With
  /// `grow` false (prediction) a new namespace gets no field. BadExample for one that has the name
  /// of what a transform makes.
  void meet(const text::NamespaceNames& names, const text::ExampleChunk& chunk, std::size_t example,
            bool grow);

  /// Whether all namespaces of an example have been met.
  bool has_met(const text::ExampleChunk& chunk, const text::Example& example) const;

  /// So many runs of the example are of namespaces that have not been met.
  std::uint32_t count_unmet(const text::ExampleChunk& chunk, const text::Example& example) const;

  /// For prediction: gives all namespaces that plans or options name their ids in `names`, which
  /// are new, and closes them.
  void close_names(text::NamespaceNames& names) const;
  /// Meets (without growing) those of the names that have plans, and those that others share.
  void meet_known(const text::NamespaceNames& names);

  /// As `meet` for who only counts: a namespace of any name is met.
  void meet_for_count(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
                      std::size_t example);
  /// How many features an example that has been met is in all, with products that are 0; any number
  /// above text::kMaxFeatures where it is more.
  double count(const text::ExampleChunk& chunk, const text::Example& example,
               FeatureCounts& counts) const;

  /// Appends examples [first, first + count) of the chunk to `out` and returns how many it was:
  /// it stops before an example that has a namespace to `meet`, and behind one with which `out` has
  /// grown by more than text::kMaxFeatures. Interactions of an example end at that many.
  std::size_t map(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                  FeatureBatch& out) const;

 private:
  class Counter;

  bool has_met(std::uint32_t name) const {
    return name < plan_of_.size() && plan_of_[name] != kUnmet;
  }
  std::uint32_t add_plan(NamespacePlan plan);
  void meet(std::uint32_t id, const std::string& name, bool grow);
  NamespacePlan plan(const std::string& name, bool grow);
  bool known_exactly(const std::string& selector) const;
  bool any_selects(const std::vector<std::string>& selectors, const std::string& name) const;
  void assign_fields(NamespacePlan& plan, bool grow);
  template <bool kCopies>
  std::size_t map_each(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                       FeatureBatch& out) const;
  // `plan_of` is plan_of_, or plan_of_plan_ for an example with derived namespaces.
  void order_runs(const text::ExampleChunk& chunk, const text::Example& example,
                  const std::uint32_t* plan_of, FeatureBatch& out) const;
  void map_linear(const text::ExampleChunk& chunk, const text::Example& example,
                  const std::uint32_t* plan_of, FeatureBatch& out) const;
  /// The usual line, every namespace of which is linear and the only one of its field, without
  /// interactions: all in one pass. False, with nothing appended, for any other. `all_usual`: every
  /// namespace of the chunk is known to be so.
  bool map_usual(const text::ExampleChunk& chunk, const text::Example& example, bool all_usual,
                 FeatureBatch& out) const;
  bool map_usual_linear(std::span<const text::NamespaceRun> runs, bool all_usual,
                        FeatureBatch& out) const;
  std::uint64_t plans_of(std::span<const text::NamespaceRun> runs) const;
  /// `plans`: those that it has found, as FeatureBatch::Origin has them.
  template <bool kGroups, bool kFields>
  bool map_usual_runs(std::span<const text::NamespaceRun> runs, std::uint64_t& plans,
                      FeatureBatch& out) const;
  bool all_differ(std::span<const text::NamespaceRun> runs, FeatureBatch& out) const;
  bool put_field_runs(std::size_t count, FeatureBatch& out) const;
  void append_features(std::span<const Feature> features, std::uint32_t linear_at,
                       FeatureBatch& out) const;
  static void note_origin(bool derived, FeatureBatch& out);
  void map_fields(const text::ExampleChunk& chunk, const text::Example& example,
                  const std::uint32_t* plan_of, FeatureBatch& out) const;

  /// The part of a plan that mapping a run needs, in one place: a plan is several cache lines.
  struct Route {
    static constexpr std::uint32_t kNone = 0xffffffffu, kSeveral = 0xfffffffeu;
    std::uint32_t group;  ///< of LinearRun; kNone: not linear
    std::uint32_t field;  ///< the only one, kNone or kSeveral
  };
  static Route route(const NamespacePlan& plan);

  /// The facts about a name that map_usual needs.
  struct UsualRoute {
    static constexpr std::int32_t kUnusual = -1;
    std::uint64_t plan;  ///< its bit: see FeatureBatch::Origin
    std::uint32_t group;
    /// Its only one, in a model without fields its plan; kUnusual: not for map_usual, or not met.
    std::int32_t field;
  };
  UsualRoute usual_route(std::uint32_t plan) const;

  FeatureOptions options_;
  std::vector<NamespacePlan> plans_;
  std::vector<Route> routes_;  ///< of each plan
  std::unordered_map<std::string, std::uint32_t> plan_by_name_;
  std::unordered_map<std::uint32_t, std::uint32_t> plan_by_hash_;  ///< the first of a hash
  std::vector<std::uint32_t> plan_of_;  ///< name id -> index in plans_, or slot of a number
  std::vector<UsualRoute> usual_;       ///< by name id; empty with transforms
  std::size_t usual_names_ = 0;         ///< how many of these are not kUnusual
  TransformRunner transforms_;
  std::vector<std::uint32_t> plan_of_plan_;  ///< i -> i: FeatureBatch::derived names plans at once
  std::uint32_t field_count_ = 0;
  std::uint32_t fieldless_ = 0;
  bool several_fields_ = false;
};

}  // namespace leveret::feature
