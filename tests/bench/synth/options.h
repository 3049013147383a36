/// The command line of leveret-synth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace leveret::synth {

enum class Format { kVw, kCriteo, kCsv };
enum class NumericAs { kLog2Bucket, kValue, kBoth };
/// kUnnamed, what --drift alone does: linear weights wander, rare values are replaced.
enum class DriftKind { kUnnamed, kSudden, kGradual, kRecurring, kVocabulary, kMixed };

struct Options {
  std::uint64_t rows = 1'000'000;
  std::uint64_t first = 0;  ///< number of the first row: a test set continues its train set
  std::uint64_t seed = 1;
  std::uint32_t fields = 39;
  std::uint32_t numeric = 13;  ///< the first this many fields are numeric; default a third
  std::uint64_t vocabulary = 1'000'000;  ///< of the largest categorical field
  std::uint32_t order = 2;               ///< fields of a planted product: 2 or 3
  std::uint32_t numbers = 0;             ///< real numbers of a row, whose function is planted
  bool populations = false;              ///< two, with weights of their own
  bool columns = false;                  ///< a table (columns.h) in place of fields
  double base_rate = 0.25;
  double drift = 0;  ///< how often, per million rows, the world is replaced
  DriftKind drift_kind = DriftKind::kUnnamed;
  double drift_strength = 1;  ///< share of the weights' variance, or of the values, that changes
  Format format = Format::kVw;
  NumericAs numeric_as = NumericAs::kLog2Bucket;
  std::string truth;  ///< file for the true probabilities; empty: none
  bool quiet = false;
};

/// Options, or the exit code when there is nothing to generate (help: 0, misuse: 2).
struct ParsedOptions {
  Options options;
  std::optional<int> exit_code;
};
ParsedOptions parse_options(int argc, char** argv);

}  // namespace leveret::synth
