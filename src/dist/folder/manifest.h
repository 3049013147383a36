/// The manifest of a folder of shards (leveret-distributed(7), "THE FOLDER") as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/input_position.h"

namespace leveret::dist {

struct ManifestFile {
  std::string name;         ///< in the folder
  std::string fingerprint;  ///< 32 hexadecimal digits
};

struct Manifest {
  static constexpr std::uint64_t kVersion = 1;

  std::uint64_t generation = 0;
  std::optional<train::InputPosition> position;
  std::vector<ManifestFile> files;  ///< the frame's, then those of the shards
};

std::string to_text(const Manifest& manifest);
/// std::runtime_error in words for people, whatever the text is: damaged, of another program, of a
/// newer version.
Manifest manifest_from_text(const std::string& text);

}  // namespace leveret::dist
