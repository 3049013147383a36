/// How far a patch is from the least that its changes could take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "patch/patch_plan.h"

namespace leveret::patch {

/// Columns of one kind (Column::kind).
struct KindReport {
  std::string kind;
  std::uint64_t codes = 0;    ///< of rows that the record of keys names, or of all without keys
  std::uint64_t changes = 0;  ///< that differ
  std::uint64_t fresh = 0;    ///< codes of fresh rows
  std::uint64_t bytes = 0;    ///< in the patch
  /// The entropy of which codes differ, of the differences and of the fresh codes, each taken as
  /// drawn from what there is of them in all columns of the kind. Negative for codes of 32 bits: of
  /// so many different ones it says nothing.
  double entropy_bytes = -1;
};

struct PatchReport {
  std::vector<KindReport> kinds;
  std::uint64_t key_bytes = 0;      ///< records of keys
  std::uint64_t keys = 0;           ///< in the new file, of sections that change
  std::uint64_t changed_rows = 0;   ///< of keys
  double changed_rows_entropy = 0;  ///< bytes
  std::uint64_t patch_bytes = 0;
};

/// Bytes that it takes to tell which `some` of `all` are meant.
double choice_entropy(std::uint64_t some, std::uint64_t all);

/// Collects what the pieces of a patch hold. One thread.
class EntropyMeter {
 public:
  void add(const Column& column, const Prediction& before, const std::vector<std::byte>& now);
  void add_bytes(const Column& column, std::uint64_t bytes) { of(column).report.bytes += bytes; }
  std::vector<KindReport> kinds() const;

 private:
  using Histogram = std::unordered_map<std::uint32_t, std::uint64_t>;
  struct Kind {
    KindReport report;
    bool is_wide = false;
    Histogram differences, fresh;
  };
  Kind& of(const Column& column);

  std::map<std::string, Kind> kinds_;
};

}  // namespace leveret::patch
