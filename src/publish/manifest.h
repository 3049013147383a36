/// The manifest of a folder of `leveret publish` (leveret-publish(5)) as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modelfile/model_line.h"
#include "store/checksum.h"

namespace leveret::publish {

/// What a gate measured of a step before it was published. Texts, as people read them.
struct GateFigure {
  std::string file, metric, value, limit;

  bool operator==(const GateFigure&) const = default;
};

/// A file of a step.
struct Entry {
  enum class Kind { kFull, kPatch };

  std::uint64_t step = 0;
  Kind kind = Kind::kFull;
  std::string file;  ///< in the folder
  std::uint64_t bytes = 0;
  store::Checksum fingerprint = {};                 ///< of the step's model
  std::optional<store::Checksum> base;              ///< patches: of the model that it is for
  std::uint64_t sequence = modelfile::kNoSequence;  ///< examples learned by the step's model
  std::uint64_t published = 0;      ///< when the step was, in seconds since 1970; 0: nobody knows
  std::vector<GateFigure> gates{};  ///< of the step; in its first file alone
  std::optional<store::Checksum> model{};  ///< of the file that -i named, where it is known

  bool operator==(const Entry&) const = default;
};

/// Steps are numbered from 1 without a gap. A step has a full file, a patch for the step before, or
/// both; the first that is kept has a full file, so that each can be made again.
struct Manifest {
  static constexpr std::uint64_t kVersion = 1;
  static constexpr const char* kName = "manifest.json";

  std::vector<Entry> entries;  ///< by step, the full file before the patch
  /// Files that the manifest before this one named, and this one does not: they are there until the
  /// next one is.
  std::vector<std::string> retired;

  bool empty() const { return entries.empty(); }
  /// The first file of the newest step. Not of an empty one.
  const Entry& newest() const;
  /// Null where the step has no such file.
  const Entry* find(std::uint64_t step, Entry::Kind kind) const;
  /// Any file of it; null: there is no such step (any more).
  const Entry* find(std::uint64_t step) const;
  /// The step of this model (Entry::model), where the newest step is a rollback from it to an older
  /// one; null: it is none.
  const Entry* rolled_back(const store::Checksum& model) const;
  /// The files from which a step's model is made again: a full file, then patches in order. Empty:
  /// there is no such step.
  std::vector<const Entry*> files_for(std::uint64_t step) const;
};

/// The same manifest gives the same text.
std::string to_text(const Manifest& manifest);
/// std::runtime_error in words for people, whatever the text is: damaged, of another program, of a
/// newer version. `name`: the file, for messages.
Manifest manifest_from_text(const std::string& text, const std::string& name);

/// FOLDER/manifest.json.
std::string manifest_path(const std::string& folder);
/// Nothing where there is none; std::runtime_error as above, or where it cannot be read.
std::optional<Manifest> read_manifest(const std::string& folder);

}  // namespace leveret::publish
