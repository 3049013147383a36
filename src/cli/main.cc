#include <csignal>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "cli/console.h"
#include "cli/help.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "kernels/dispatch.h"

namespace {

/// Long options take `_` or `-` alike: names are registered with `_`.
std::vector<std::string> with_underscores(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    for (std::size_t i = 2; i < argument.size() && argument[i] != '='; ++i) {
      if (argument[i] == '-') argument[i] = '_';
    }
  }
  return {arguments.rbegin(), arguments.rend()};  // CLI11 wants them last first
}

/// False, and told, when LEVERET_SIMD asks for what this machine does not have.
bool has_kernels() {
  try {
    leveret::kernels::active();
    return true;
  } catch (const std::runtime_error& error) {
    leveret::cli::say(std::string("error: ") + error.what());
    return false;
  }
}

int run(int argc, char** argv) {
  using namespace leveret::cli;
  if (!has_kernels()) return 2;
  CLI::App app("Leveret, a streaming learner for click-through rates", "leveret");
  app.set_version_flag("--version", std::string("leveret ") + version());
  app.require_subcommand(1);
  int exit_code = 0;
  setup_train(app, exit_code);
  setup_predict(app, exit_code);
  setup_evaluate(app, exit_code);
  setup_convert(app, exit_code);
  setup_export(app, exit_code);
  setup_inspect(app, exit_code);
  setup_audit(app, exit_code);
  setup_diff(app, exit_code);
  setup_patch(app, exit_code);
  setup_help(app, exit_code);
  try {
    app.parse(with_underscores(argc, argv));
  } catch (const CLI::ParseError& error) {
    return end_parse(app, error);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  leveret::cli::open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(): files are left in order
  try {
    return run(argc, argv);
  } catch (const leveret::cli::ReaderGone&) {
    leveret::cli::end_by_sigpipe();
  } catch (const std::bad_alloc&) {
    leveret::cli::say("error: out of memory");
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    leveret::cli::say(std::string("error: ") + (no_thread ? "cannot start a thread: " : "") +
                      error.what() + (no_thread ? "; raise the limit (ulimit -u, ulimit -v)" : ""));
  } catch (const std::exception& error) {
    leveret::cli::say(std::string("error: ") + error.what());
  }
  return 1;
}
