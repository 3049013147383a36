/// Options about what a run that learns tells of itself, the same for every program that has one.
#pragma once

#include <cstdint>
#include <string>

#include "cli/file_uses.h"
#include "metrics/metrics.h"
#include "metrics/progress.h"
#include "options/cli11_fwd.h"

namespace leveret::cli {

struct ReportOptions {
  std::string predictions, metrics;  ///< files; empty: none
  metrics::ProgressInterval progress;
  std::uint64_t window = metrics::MetricsWindows::kDefaultSize;
  bool quiet = false;  ///< no progress and no summary
  bool json = false;   ///< the summary is a line of JSON on standard output, too
  bool overwrite = false;

  bool shows_progress = true;  ///< unless it is quiet
  bool progress_given = false, window_given = false;
};

void add_report_options(CLI::App& app, ReportOptions& options);
/// Once the options are parsed. Misuse is CLI::ValidationError.
void settle_report(ReportOptions& options);
/// The files that are written.
void add_uses(FileUses& uses, const ReportOptions& options);

}  // namespace leveret::cli
