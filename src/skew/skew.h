/// Whether the lines that are predicted are like those that were learned: namespaces that the model
/// has never met, namespaces that most examples had and these lines lack, features that it does not
/// know. Counted over windows of lines, and held against what training has seen
/// (model/sightings.h). A model whose file has nothing of that tells nothing.
///
/// Predictors that are given a counter hand on which features their own look-ups have not found.
/// Counting then costs a line of Criteo 1 % more instructions with the defaults and 2 % with a
/// linear model; looking its features up again, 9 % and 21 %.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"
#include "skew/seen_line.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::skew {

/// Over windows that have ended.
struct SkewCounts {
  std::uint64_t lines = 0;
  std::uint64_t windows = 0;
  std::uint64_t skewed_windows = 0;      ///< of these, those with something remarkable
  std::uint64_t strange_namespaces = 0;  ///< of lines: those that the model has never met
  /// Over the lines: the namespaces that a line lacks and half of the learned examples had.
  std::uint64_t missing_namespaces = 0;
  std::uint64_t features = 0;          ///< those of which the model can say whether it knows them
  std::uint64_t unknown_features = 0;  ///< of these, those that it does not

  void add(const SkewCounts& more);
};

/// Something remarkable in a window.
struct SkewFinding {
  enum class Kind : std::uint8_t {
    kStrange,  ///< a namespace that the model has never met
    kMissing,  ///< one that half of the learned examples had
    kUnknown,  ///< features of a namespace, or of all, are not known
  };
  static constexpr std::size_t kMostName = 200;
  Kind kind;
  /// The namespace, as it stands in the text, as far as kMostName bytes; empty: with kUnknown all
  /// of them, with kStrange some that are known by their hashes alone.
  std::string name;
  bool is_first_letter;  ///< of kStrange: they are some that begin with this byte
  std::uint64_t lines;   ///< of the window
  double share;          ///< of its lines, or of the features
  double learned;        ///< the same in training's last windows
};

/// A sentence without a period; the name is as in the text.
std::string to_text(const SkewFinding& finding);

/// Which findings have been told: each kind and namespace is told once, and kMost of them in all,
/// so that names which never come again fill neither a log nor the memory.
class SkewTold {
 public:
  static constexpr std::size_t kMost = 256;
  /// Whether it is to be told.
  bool add(const SkewFinding& finding) {
    return told_.size() < kMost && told_.emplace(finding.kind, finding.name).second;
  }

 private:
  std::set<std::pair<SkewFinding::Kind, std::string>> told_;
};

/// For each of 64 bits, in how many words it was set, of fewer than 1,024: words are added as
/// binary numbers are, all bits at once.
class BitCounts {
 public:
  void add(std::uint64_t word) {
    for (std::uint64_t& plane : planes_) {
      const std::uint64_t carry = plane & word;
      plane ^= word;
      word = carry;
      if (word == 0) return;
    }
  }
  std::uint64_t of(std::size_t bit) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < planes_.size(); ++i) count += (planes_[i] >> bit & 1) << i;
    return count;
  }

 private:
  std::array<std::uint64_t, 10> planes_{};
};

/// A context, of whose features each line that is counted has all, too.
struct SeenContext {
  const text::ExampleChunk& chunk;  ///< its first example is the context
  const SeenLine& seen;
  std::string_view text;  ///< where names of its namespaces are
};

/// One thread's.
class SkewCounter {
 public:
  static constexpr std::uint64_t kWindow = 1000;  ///< lines
  static constexpr std::uint64_t kLeast = 100;    ///< of a last window that is judged

  /// `names` are those of the parser whose chunks come, and outlive it.
  SkewCounter(std::shared_ptr<const model::Model> model, const text::NamespaceNames& names);

  /// Whether there is anything to hold lines against.
  bool tells() const { return learned_.examples >= kLeastLearned; }
  /// Counts examples [first, first + count) of the chunk, of each of which the first example of
  /// `context` is a part, unless it is null.
  void count(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             const text::ExampleChunk* context = nullptr);
  /// The same of all examples of a batch, which are those of the chunk from `first` on, by what
  /// `lookup` has noted of them. `text`: where names of their namespaces are.
  void count(const text::ExampleChunk& chunk, std::size_t first, const feature::FeatureBatch& batch,
             const model::Lookup& lookup, std::string_view text,
             const SeenContext* context = nullptr);
  /// Judges the last window where it has kLeast lines; the next line begins another.
  void finish();

  /// Since the last time.
  SkewCounts take_counts() { return std::exchange(counts_, {}); }
  /// What was found since the last time: of each kind and namespace once.
  std::vector<SkewFinding> take_findings() { return std::exchange(findings_, {}); }

 private:
  /// Examples that training has counted, and features of them, of which a share is one.
  static constexpr std::uint64_t kLeastLearned = 20, kLeastFeatures = 20;

  struct InWindow {
    std::uint64_t lines = 0, features = 0, unknown = 0;
    std::uint64_t fresh = 0;  ///< of the unknown features, those that are new in the window
    std::uint64_t last = 0;   ///< the last line that had it, by number
  };
  struct Strange {
    std::string name;         ///< empty: not found
    std::uint32_t hash = 0;   ///< of the name
    bool is_several = false;  ///< others are counted here, too
    InWindow seen;
  };

  /// A part of lines: `unknown` as in SeenLine, `text` as in SeenContext.
  struct Part {
    const text::ExampleChunk& chunk;
    const text::Example& example;
    const std::vector<std::uint32_t>& unknown;
    std::string_view text;
  };
  void add(const Part& part, std::uint64_t lines);
  void add_unknown(const text::ExampleChunk& chunk, const text::Example& example,
                   std::uint32_t feature);
  Strange& strange(const text::NamespaceRun& run, std::string_view text);
  std::string find_name(std::string_view text, std::uint32_t hash) const;
  bool is_new(std::uint32_t hash);
  void add_plain_lines();
  void judge();
  void judge_strange();
  void judge_namespace(std::size_t plan);
  void judge_all();
  void find(SkewFinding finding);

  const std::shared_ptr<const model::Model> model_;
  const text::NamespaceNames& names_;
  const model::SightingCounts learned_;
  model::Seen all_learned_;
  SeenLines lines_seen_;
  SeenLine seen_line_;  ///< working memory

  // The window.
  std::uint64_t lines_ = 0;
  BitCounts plain_;                           ///< SeenLine::plans of lines, not in seen_ yet
  std::vector<InWindow> seen_;                ///< by plan
  std::map<std::uint32_t, Strange> strange_;  ///< by name
  InWindow all_;
  std::vector<std::uint64_t> marks_;  ///< a bit for each of some hashes of unknown features
  bool skewed_ = false;

  std::uint64_t line_ = 0;  ///< of all
  SkewCounts counts_;
  SkewTold told_;
  std::vector<SkewFinding> findings_;
};

}  // namespace leveret::skew
