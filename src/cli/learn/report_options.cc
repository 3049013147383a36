#include "cli/learn/report_options.h"

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "cli/input.h"
#include "options/numbers.h"

namespace leveret::cli {

void add_report_options(CLI::App& app, ReportOptions& options) {
  app.add_option("-p,--predictions", options.predictions,
                 "write each example's prediction, made before it was learned")
      ->type_name("FILE")
      ->transform(result_name())
      ->check(not_empty());
  add_overwrite_option(app, options.overwrite);
  app.add_option("--metrics", options.metrics, "write a JSON line per window")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option_function<std::uint64_t>(
         "--window",
         [&options](std::uint64_t window) {
           options.window = window;
           options.window_given = true;
         },
         "examples per window of --metrics")
      ->type_name("N")
      ->transform(options::within(1, std::uint64_t{1} << 40))
      ->default_str(std::to_string(options.window));
  app.add_option_function<std::string>(
         "-P,--progress",
         [&options](const std::string& text) {
           try {
             options.progress = metrics::ProgressInterval::parse(text);
           } catch (const std::runtime_error& error) {
             throw CLI::ValidationError(error.what());
           }
           options.progress_given = true;
         },
         "print a line every N examples, or each time their number has grown by the factor X.Y; "
         "default 2.0")
      ->type_name("N|X.Y");
  app.add_flag("--quiet", options.quiet, "no progress and no summary");
}

void settle_report(ReportOptions& options) {
  if (options.quiet && options.progress_given) {
    throw CLI::ValidationError("--progress does nothing with --quiet");
  }
  if (options.window_given && options.metrics.empty()) {
    throw CLI::ValidationError("--window does nothing without --metrics");
  }
}

void add_uses(FileUses& uses, const ReportOptions& options) {
  using store::Content;
  if (!options.predictions.empty()) uses.add_output("-p", options.predictions, Content::kNumbers);
  if (!options.metrics.empty()) uses.add_output("--metrics", options.metrics, Content::kJson);
}

}  // namespace leveret::cli
