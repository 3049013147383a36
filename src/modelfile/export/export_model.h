/// Weights for serving: what prediction needs of a model, in few bits (leveret-model(5), kind 2).
#pragma once

#include <cstdint>
#include <string>

#include "modelfile/row_coder.h"

namespace leveret::modelfile {

struct ExportOptions {
  int bits = 16;  ///< of a weight: 32, 16, 8 or 4
  Rounding rounding;
  std::uint64_t min_count = 0;  ///< features that were seen fewer times are left out
  std::string previous;         ///< an export of the same line, whose codes are to stay; or empty
};

/// Reads a model or an export section by section, and saves an export atomically, which takes
/// memory for the export alone. The same arguments give the same bytes. std::runtime_error says
/// what is wrong with a file or cannot be done with it.
void export_model(const std::string& model, const std::string& to, const ExportOptions& options);

}  // namespace leveret::modelfile
