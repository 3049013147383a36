/// leveret-mpi: verbs whose work several processes do together.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "cli/help/help.h"
#include "cli/mpi/verbs.h"
#include "cli/process.h"
#include "cli/program.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "dist/mpi/mpi_communicator.h"
#include "dist/talk/agreement.h"

namespace {

using namespace leveret;

/// All ranks find the same wrong with the command line; rank 0 says it.
int end_parse_on_root(const CLI::App& app, const CLI::ParseError& error,
                      dist::Communicator& ranks) {
  ranks.know_the_end();
  if (ranks.is_root()) return cli::end_parse(app, error);
  return error.get_exit_code() == 0 ? 0 : 2;
}

int run(dist::Communicator& ranks, int argc, char** argv) {
  if (!cli::has_kernels()) return 2;
  CLI::App app("Leveret, a streaming learner for click-through rates, on several machines",
               "leveret-mpi");
  cli::set_help_flags(app);
  app.set_version_flag("--version", std::string("leveret-mpi ") + cli::version());
  app.require_subcommand(1);
  int exit_code = 0;
  cli::setup_mpi_train(app, ranks, exit_code);
  cli::setup_mpi_predict(app, ranks, exit_code);
  cli::setup_mpi_evaluate(app, ranks, exit_code);
  cli::setup_mpi_export(app, ranks, exit_code);
  cli::setup_mpi_gather(app, ranks, exit_code);

  try {
    cli::parse(app, argc, argv, ranks.is_root());
  } catch (const CLI::ParseError& error) {
    return end_parse_on_root(app, error, ranks);
  } catch (const dist::FailedElsewhere& failed) {
    return failed.exit_code;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  cli::open_standard_descriptors();
  cli::prepare_signals();
  dist::MpiCommunicator ranks(argc, argv);
  if (!ranks.is_root()) cli::speak_as(fmt::format("rank {}", ranks.rank()));
  const int code = cli::end_with_message([&] { return run(ranks, argc, argv); });
  if (code != 0 && ranks.size() > 1 && !ranks.all_know_the_end()) ranks.end_all(code);
  return code;
}
