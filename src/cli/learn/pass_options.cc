#include "cli/learn/pass_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <string>

#include "options/numbers.h"

namespace leveret::cli {

void add_holdout_off(CLI::App& app, PassOptions& options) {
  app.add_flag("--holdout_off", options.off,
               "with --passes: learn all examples in all passes, and keep the last one's model");
}

void add_pass_options(CLI::App& app, PassOptions& options) {
  app.add_option_function<std::uint64_t>(
         "--holdout_period",
         [&options](std::uint64_t period) {
           options.period = period;
           options.period_given = true;
         },
         "with --passes: every Nth example is not learned, and shows which pass was best: its "
         "model is kept")
      ->type_name("N")
      ->transform(options::within(2, std::uint64_t{1} << 62))
      ->default_str(std::to_string(options.period));
  add_holdout_off(app, options);
  app.add_option_function<std::uint64_t>(
         "--early_terminate",
         [&options](std::uint64_t patience) {
           options.patience = patience;
           options.patience_given = true;
         },
         "with --passes: stop after N passes without a gain on what is held out")
      ->type_name("N")
      ->transform(options::within(1, std::numeric_limits<std::uint32_t>::max()))
      ->default_str(std::to_string(options.patience));
}

void check_pass_options(const PassOptions& options) {
  for (const auto& [given, name] : {std::pair(options.period_given, "--holdout_period"),
                                    std::pair(options.patience_given, "--early_terminate")}) {
    if (!given) continue;
    if (options.off) {
      throw CLI::ValidationError(std::string(name) + " and --holdout_off contradict each other");
    }
  }
}

}  // namespace leveret::cli
