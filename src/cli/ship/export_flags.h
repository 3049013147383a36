/// The options of `export`, of a model in one file or in shards.
#pragma once

#include <string>

#include "modelfile/export/export_model.h"
#include "options/cli11_fwd.h"

namespace leveret::cli {

struct ExportFlags {
  std::string model, output, rounding = "nearest";
  modelfile::ExportOptions options;
  bool seed_given = false, tolerance_given = false, overwrite = false;
};

/// All but -i.
void add_export_options(CLI::App& verb, ExportFlags& flags);
/// Misuse is CLI::ValidationError.
void check_export(const ExportFlags& flags);

}  // namespace leveret::cli
