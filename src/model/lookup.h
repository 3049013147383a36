/// Finds what a model knows of the features of examples, and puts it on a tape: slots, cells, rows,
/// and values by the largest that each feature has had.
///
/// In steps, so that memory is on its way before it is needed: `open` once for a batch, then for
/// each example `prefetch`, `resolve` (in the order of the examples) and `bind`; in prediction
/// `prefetch`, `find` and `resolve_values`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "feature/feature_batch.h"
#include "model/hot_rows.h"
#include "model/model.h"
#include "tape/tape.h"

namespace leveret::model {

using tape::Tape;

/// Owned by one thread, and of use for one model or its replicas.
class Lookup {
 public:
  explicit Lookup(const Model& model);

  /// Makes room on the tape for all of the batch: for resolve, or for find.
  void open(const Model& model, const feature::FeatureBatch& batch, Tape& tape, Use use);
  /// Asks memory for the slots of an example.
  void prefetch(const Model& model, const Tape& tape, std::size_t example) const;

  /// Gives features that are new their slots, counts each occurrence, and asks memory for the rows.
  /// Needs the model's tables to itself, or concurrent ones with room (make_room).
  void resolve(Model& model, Tape& tape, std::size_t example);
  /// Puts examples [first, first + size) on the tape, with values as they are now.
  void bind(Model& model, Tape& tape, std::size_t first, std::size_t size);
  /// The same for example b of the tape alone, when it has been resolved.
  void bind_example(Model& model, Tape& tape, std::size_t b);
  /// Slots move when a shard grows: finds those of the tape's examples again where they have.
  void find_moved(Model& model, Tape& tape);

  /// resolve without learning: what the model does not know stays unknown.
  void find(const Model& model, Tape& tape, std::size_t example);
  /// Of example b of the tape.
  void resolve_values(const Model& model, Tape& tape, std::size_t b) const;

  /// Whether `find` notes from now on what it does not find.
  void note_unknown(bool notes) { notes_unknown_ = notes; }
  /// Of an example that was found since `open`: those of its linear features, by place in
  /// FeatureBatch::linear, that the model does not know. Of cells without keys (-b): those whose
  /// field does not know them, by field.
  std::span<const std::uint32_t> unknown_of(std::size_t example) const {
    return {unknown_.data() + unknown_begin_[example],
            unknown_.data() + unknown_begin_[example + 1]};
  }

  /// All steps for all of the batch, as one batch.
  void resolve_all(Model& model, const feature::FeatureBatch& batch, Tape& tape);
  void find_all(const Model& model, const feature::FeatureBatch& batch, Tape& tape);

  /// Whether the tables have room for `times` what the batch has, were all of it new; and makes it,
  /// with some more where there is memory, as all that learn stand still meanwhile.
  bool has_room(const Model& model, const feature::FeatureBatch& batch, std::uint64_t times);
  void make_room(Model& model, const feature::FeatureBatch& batch, std::uint64_t times);

  /// Rows that have copies here are replaced by these, which outlive it.
  void use(HotRows& hot) { hot_ = &hot; }

 private:
  /// Features and values other than 1 of a batch, by shard.
  struct Demand {
    std::vector<std::uint64_t> features, values;
  };
  void count_demand(const Model& model, const feature::FeatureBatch& batch);
  template <class Places>
  void open(const feature::FeatureBatch& batch, Places& places, Tape& tape) const;
  template <class Tables, class Places, class Search>
  void find_slots(Tables& tables, const feature::FeatureBatch& batch, Places& places,
                  std::size_t example, Search search);
  void find_or_insert(table::Tables& tables, Tape& tape, std::size_t example);
  void find_moved(Model& model, Tape& tape, std::size_t example);
  table::Slot* insert(table::Shard& shard, table::Key key);
  void resolve_rows(table::Tables& tables, Tape& tape, std::size_t example, bool apart);
  static void touch(unsigned clock, Tape& tape, std::size_t example);
  void put_row(table::Shard& shard, std::uint32_t field, table::Row row, std::byte*& at) const;
  void scale_elsewhere(const table::Tables& tables, Tape& tape, std::size_t example) const;
  float scaled(const table::Tables& tables, const Tape& tape, std::size_t example,
               std::uint32_t i) const;
  bool is_apart(const feature::FieldFeature& feature, std::uint32_t field, const Tape& tape,
                std::size_t example) const;

  bool mixed_, hashed_;
  /// Some features of fields have slots that no linear feature has: all with -b, those whose
  /// namespace is not linear or has its cells in another part of the model, and those of a
  /// namespace's second field.
  bool some_apart_;
  bool several_fields_ = false;
  HotRows* hot_ = nullptr;
  std::uint64_t moves_ = 0;                 ///< how often slots have moved
  std::vector<std::uint64_t> found_after_;  ///< by example: moves until its slots were found
  bool notes_unknown_ = false;
  std::vector<std::uint32_t> unknown_, unknown_begin_;  ///< the second by example
  std::vector<std::uint32_t> away_;  ///< working memory: features that are not in their homes
  Demand demand_;
};

}  // namespace leveret::model
