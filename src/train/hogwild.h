/// Learning with several threads on one model (Recht et al. 2011; FW paper, section 4.2).
///
/// Each thread takes chunks of text, parses and learns from them on its own. Rows and cells are
/// shared and written without locks: where two threads meet in one, a lost update is noise.
/// Numbers that every example writes (layers, mixers, biases, base rate) would pass from core to
/// core for every example; each thread has a replica of them, and adds what changed in it to the
/// model's own every merge_every() examples (or every few batches, where these are more), and when
/// its chunk ends, or the parameters themselves are to change. The most frequent rows (HotRows) are
/// merged every merge_every() examples, too, and whenever a thread lets go of the shape.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/hot_rows.h"
#include "model/model.h"
#include "predict/outcome.h"
#include "text/example.h"
#include "text/namespace_names.h"
#include "text/parser.h"
#include "train/shape_mutex.h"

namespace leveret::train {

using predict::Outcomes;

struct HogwildOptions {
  unsigned threads = 2;
  bool pin = false;  ///< thread i on the i-th processor that the process may use
  text::ParserOptions parser;
  /// Threads learn into copies of rows (HotRows) once the model has learned this many
  /// times what all of them learn between two merges. While it is young its steps are long, and
  /// those that threads take side by side, from the same start, add up to more than they should.
  std::size_t copies_after = 16;
};

/// std::runtime_error where so many threads cannot learn such a model.
void check_threads(unsigned threads, const spec::Spec& spec);

class Hogwild {
 public:
  /// Hands out chunks of whole lines (or parsed ones), to any thread, told by its number; false at
  /// the end.
  using Next = std::function<bool(text::ExampleChunk&, unsigned thread)>;
  /// Makes Next return false soon; called when a thread has failed.
  using Stop = std::function<void()>;
  /// Told of a thread's chunk when it is parsed, and of outcomes, in the order of the examples that
  /// the thread took; one call at a time. What it throws ends the run.
  using Parsed = std::function<void(const text::ExampleChunk&, unsigned thread)>;
  using Report = std::function<void(Outcomes&, unsigned thread)>;

  Hogwild(model::Model& model, text::NamespaceNames& names, const kernels::Kernels& kernels,
          HogwildOptions options);

  /// Returns when the input has ended and everything is learned. Rethrows the first error of any
  /// thread, after all have stopped. `parse` false: chunks come parsed.
  void run(const Next& next, const Stop& stop, bool parse, const Parsed& parsed,
           const Report& report);

 private:
  model::Model make_replica();
  /// To be called with the shape alone, before the model's parameters change: merges the replicas
  /// of all threads, which copy the parameters again afterwards.
  void change_parameters();
  /// Whether features are to be forgotten; and does it, alone.
  bool must_forget();
  void forget();

  /// Examples that a thread learns from one merge to the next, at least. The more threads, the more
  /// the others have learned in that time; at 64 and fewer merging takes too much of it.
  std::size_t merge_every() const {
    return std::max<std::size_t>(kMergeEvery / options_.threads, kMergeEvery / 4);
  }
  /// The same when it has learned so many: a young model changes much with each.
  std::size_t merge_every(std::uint64_t examples) const {
    return std::clamp<std::uint64_t>(examples / (16 * options_.threads), 16, merge_every());
  }

  /// See copies_after. Under dense_mutex_.
  bool young() const {
    return model_.parameters().scalars.examples <
           options_.copies_after * options_.threads * merge_every();
  }

  /// Brings hot_rows_ up to date.
  void choose_rows();

  static constexpr std::size_t kMergeEvery = 512;  ///< of all threads together
  static constexpr unsigned kBatches = 8;          ///< likewise, between two merges of parameters

  class Worker;

  model::Model& model_;
  text::NamespaceNames& names_;
  const kernels::Kernels& kernels_;
  HogwildOptions options_;
  bool copies_rows_;        ///< whether changes of rows add up: where rules keep sums alone
  ShapeMutex shape_mutex_;  ///< shared: the model keeps its shape; alone: it may change
  std::mutex dense_mutex_;  ///< guards the model's own dense part, and what copies are merged into
  model::HotRows::Choice hot_rows_;  ///< changes with the shape
  std::size_t shapes_ = 1;           ///< that the model has had; changes with the shape, too
  std::size_t layouts_ = 1;          ///< and that its parameters have had, by change_parameters
  std::vector<Worker*> workers_;     ///< under dense_mutex_
  std::size_t merges_ = 0;           ///< that there have been; under dense_mutex_
  std::mutex report_mutex_;
  std::atomic<bool> stop_{false};
};

}  // namespace leveret::train
