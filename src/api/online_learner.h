/// Learning from what another program hands in, lines or arrays, and predicting with what has been
/// learned so far.
///
///   OnlineLearner learner("--ffm_k 8");
///   learner.learn("1 |a x\n-1 |a y\n", probabilities, 2, {});
///   learner.save("model.lvt");
///
/// Each example is predicted before it is learned. In one thread the model is, bit for bit, that of
/// `leveret train` with the same options and lines, however these come in calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/kernels.h"
#include "leveret/leveret.h"
#include "metrics/metrics.h"
#include "model/model.h"
#include "options/learner_options.h"
#include "serve/request_chunk.h"
#include "serve/requests.h"
#include "text/namespace_names.h"
#include "text/parser.h"
#include "train/chunk_ledger.h"
#include "train/notes.h"
#include "train/session.h"

namespace leveret::api {

/// Examples to learn, as arrays: example i has the features [ends[i - 1], ends[i]), the first those
/// from 0 on.
struct Arrays {
  const float* labels;       ///< [n] 1: a click; 0 or -1: none; NaN: not known
  const float* importances;  ///< [n], or null: 1 each
  const leveret_feature* features;
  std::span<const std::size_t> ends;  ///< [n]
};

/// As text::Example has it. serve::BadArgument where it is none of these.
float label_of(const float* labels, std::size_t example);
/// serve::BadArgument where it is not from 0 to text::kMaxImportance.
float importance_of(const float* importances, std::size_t example);

/// Whether a call is to go on, asked between parts of it: so many of its `count` lines are learned.
using Progress = std::function<bool(std::size_t learned, std::size_t count)>;

/// One thread's.
class OnlineLearner final : private train::SessionEvents {
 public:
  /// A new model. serve::BadArgument about options, here and below.
  explicit OnlineLearner(std::string_view options);
  /// Goes on with the model of this file. std::runtime_error where it cannot be read, or is an
  /// export.
  OnlineLearner(std::string_view options, const std::string& path);

  // Both write the probabilities of lines, or examples, NaN where there is none, to
  // `probabilities` [count], unless that is null. False where `progress` ended the call: then what
  // was not learned has NaN. serve::BadLine about the first line that is no example, which was not
  // learned: the others were. After serve::BadArgument nothing was.

  bool learn(std::string_view text, float* probabilities, std::size_t count,
             const Progress& progress);
  bool learn(const Arrays& arrays, float* probabilities, const Progress& progress);

  /// As the model is now; as serve::Requests::predict.
  void predict(std::string_view text, std::span<float> probabilities);
  void predict(const leveret_feature* features, std::span<const std::size_t> ends,
               std::span<float> probabilities);

  /// Names that arrays may use from now on.
  std::uint32_t hash_namespace(std::string_view name);
  std::uint32_t hash_feature(std::uint32_t space, std::string_view name) const;

  /// Learns what waits for the rest of its batch, and saves. serve::BadArgument where no labelled
  /// example has come to a new model; std::runtime_error as modelfile::save_model.
  void save(const std::string& path);

  /// Figures of what was predicted before it was learned.
  metrics::MetricsSnapshot metrics() { return metrics_.snapshot(); }
  /// Taken so far, in all calls.
  std::uint64_t lines() const { return lines_; }

 private:
  /// A line of an earlier call, whose probability nobody waits for.
  static constexpr std::size_t kOfEarlierCall = ~std::size_t{0};
  using Chunks = std::span<text::ExampleChunk>;

  void begin(model::Model model);
  void begin_call(float* probabilities, std::size_t count);
  void learn_part(Chunks chunks, bool parsed);
  void note_text(std::string_view text);
  /// Where some of the call wait for the rest of their batch: calls `predict` with the first of
  /// them, behind which all wait.
  void answer_waiting(const std::function<void(std::size_t first)>& predict);
  void check(const Arrays& arrays);
  void append(const Arrays& arrays, std::size_t example, text::ExampleChunk& to) const;
  serve::Space space_of(std::uint32_t hash) const;
  std::uint32_t add_space(std::string_view name);
  void add_spaces_of_model();
  std::size_t chunks_of_part() const;
  serve::Requests& scorer();
  void check_usable() const;

  void chunk(const text::ExampleChunk& chunk, std::uint64_t behind, unsigned thread) override;
  void outcomes(train::Outcomes& outcomes, bool held_out, unsigned thread) override;
  void room_for(const text::ExampleChunk&, unsigned) override {}
  void end_waiting() override {}

  const std::unique_ptr<const options::LearnerOptions> options_;
  const kernels::Kernels& kernels_;
  text::NamespaceNames names_;
  /// The namespaces that arrays may name. Two names of one hash are one namespace, as in a model.
  std::unordered_map<std::uint32_t, std::uint32_t> name_of_hash_;
  std::size_t plans_ = 0;  ///< of the model's namespaces, those that are among them
  text::ParserOptions parser_options_;
  std::unique_ptr<text::Parser> parser_;  ///< of one thread
  std::optional<train::Session> session_;
  train::Notes notes_;         ///< of what has been saved, and was read
  train::ChunkHasher hasher_;  ///< of the text since
  bool lacks_end_ = false;     ///< the last line of that text
  bool is_new_ = true;         ///< the model has begun here
  bool failed_ = false;        ///< an error has come within a part
  std::uint64_t lines_ = 0, labelled_ = 0;
  metrics::Metrics metrics_;
  std::unique_ptr<serve::Requests> scorer_;  ///< of the model as it is; null: it has learned since

  std::vector<std::deque<std::size_t>> waiting_;  ///< of each thread: lines without outcomes
  // The state of a call.
  float* probabilities_ = nullptr;
  std::optional<text::BadLine> bad_;  ///< the first one
};

}  // namespace leveret::api
