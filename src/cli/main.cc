#include <CLI/CLI.hpp>
#include <string>

#include "cli/blas_threads.h"
#include "cli/help/help.h"
#include "cli/process.h"
#include "cli/program.h"
#include "cli/signals.h"
#include "cli/verbs.h"

namespace {

int run(int argc, char** argv) {
  using namespace leveret::cli;
  if (!has_kernels()) return 2;
  CLI::App app("Leveret, a streaming learner for click-through rates", "leveret");
  set_help_flags(app);
  app.set_version_flag("--version", std::string("leveret ") + version());
  app.require_subcommand(1);
  int exit_code = 0;
  setup_train(app, exit_code);
  setup_predict(app, exit_code);
  setup_serve(app, exit_code);
  setup_evaluate(app, exit_code);
  setup_compare(app, exit_code);
  setup_convert(app, exit_code);
  setup_schema(app, exit_code);
  setup_export(app, exit_code);
  setup_inspect(app, exit_code);
  setup_audit(app, exit_code);
  setup_diff(app, exit_code);
  setup_patch(app, exit_code);
  setup_publish(app, exit_code);
  setup_help(app, exit_code);
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_parse(app, error);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  leveret::cli::open_standard_descriptors();
  leveret::cli::prepare_signals();
  return leveret::cli::end_with_message([&] { return run(argc, argv); });
}
