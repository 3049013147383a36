/// Examples as the VW text parser leaves them: chunks of many lines in flat arrays.
///
/// A chunk owns everything in it; an Example is a set of offsets into its chunk, so nothing is
/// allocated per example and threads hand over whole chunks. Not thread safe; one owner at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/text/text_kernels.h"
#include "text/unfilled.h"

namespace leveret::text {

using kernels::Feature;

/// A run of features of one namespace. The same namespace may come in several runs of a line. Those
/// of an example follow each other: one begins where the one before it ends.
struct NamespaceRun {
  std::uint32_t name;   ///< id in NamespaceNames
  std::uint32_t hash;   ///< VW's hash of the name: the seed of its features
  std::uint32_t begin;  ///< features [begin, end) in ExampleChunk::features
  std::uint32_t end;
};

/// A larger importance has gradients whose squares do not fit into a float, so a line that says so
/// is bad.
inline constexpr float kMaxImportance = 1e12f;

/// A line has no more features, with all that a model makes of them (feature/line_limit.h), or is
/// bad: pairs of some thousands would fill the memory.
inline constexpr std::uint32_t kMaxFeatures = 1u << 20;
inline constexpr const char* kTooManyFeatures = "line has more than 1048576 features";

struct Example {
  float label;       ///< +1, -1, or 0 when the line has none
  float importance;  ///< 0 to kMaxImportance
  float initial;     ///< VW's third label token: added to the raw score; 0 when absent
  std::uint32_t runs_begin, runs_end;  ///< in ExampleChunk::runs
  std::uint32_t tag_begin, tag_size;   ///< in ExampleChunk::bytes
  bool shared;         ///< its label is "shared": a request begins (ParserOptions::shared_label)
  std::uint64_t line;  ///< 1-based line number in its source
};

/// Why a line is not an example.
struct BadLine {
  std::uint64_t line;                   ///< 1-based line number in its source
  std::uint32_t text_begin, text_size;  ///< the line in ExampleChunk::bytes, without line end
  std::uint32_t column;                 ///< 1-based byte column of the fault
  const char* what;                     ///< static text, e.g. "label is not a number"
};

/// Where a feature's text lies; filled only when the parser is asked to keep names (audit).
struct FeatureName {
  std::uint32_t name_begin, name_size;    ///< in ExampleChunk::bytes; size 0: anonymous
  std::uint32_t value_begin, value_size;  ///< string value of `a:b` ("chain hash"); size 0: none
};

/// Where a chunk lies in its stream: the parts of a block follow each other, then come those of the
/// next block, whatever threads do with them.
struct ChunkPlace {
  std::uint64_t block = 0;  ///< counted from 0
  std::uint32_t part = 0;   ///< counted from 0 in each block
  bool last = true;         ///< of its block
};

struct ExampleChunk {
  std::string bytes;  ///< the text the offsets point into; whole lines
  std::vector<Example> examples;
  Unfilled<NamespaceRun> runs;
  Unfilled<Feature> features;
  Unfilled<FeatureName> names;  ///< empty, or parallel to features
  std::vector<BadLine> bad;
  /// Where this chunk comes from: for messages. Index into the source list of its reader.
  std::uint32_t source = 0;
  std::uint64_t first_line = 1;  ///< line number of its first line
  /// Those of its lines that are neither an example's nor bad.
  std::uint64_t blank_lines = 0;
  /// Its source has ended, and it has no line: of a folder that fills (stream::FolderPaths).
  bool ends_source = false;
  ChunkPlace place;
  /// Every NamespaceRun::name is below it.
  std::uint32_t name_limit = kNoLimit;
  static constexpr std::uint32_t kNoLimit = 0xffffffffu;

  std::string_view view(std::uint32_t begin, std::uint32_t size) const {
    return std::string_view(bytes).substr(begin, size);
  }
  std::uint64_t lines() const { return examples.size() + bad.size() + blank_lines; }
  /// These of its examples (ascending indices) are bad lines from now on. Their text is looked for
  /// in `bytes`.
  void turn_bad(const std::vector<std::size_t>& which, const char* what);
  /// Keeps the capacity, so that a chunk that is used again does not allocate.
  void clear();
  /// From an empty chunk, becomes what is known of these lines before they are parsed.
  void take_lines(ExampleChunk& lines);
  /// Frees the arrays that only a line of many megabytes needs, and leaves the others as they are:
  /// for a chunk that waits to be used again.
  void free_large();
  /// Memory of what it holds, in bytes.
  std::size_t size_bytes() const;
};

}  // namespace leveret::text
