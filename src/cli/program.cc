#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/process.h"
#include "cli/vw/take.h"
#include "kernels/dispatch.h"
#include "options/learner_options.h"

namespace leveret::cli {

bool has_kernels() {
  try {
    kernels::active();
    return true;
  } catch (const std::runtime_error& error) {
    say(std::string("error: ") + error.what());
    return false;
  }
}

void parse(CLI::App& app, int argc, char** argv, bool speaks) {
  const auto note = [speaks](const std::string& text) {
    if (speaks) say(text);
  };
  std::vector<std::string> arguments(argv + 1, argv + argc);
  options::put_underscores(arguments);
  arguments = in_our_words(app, arguments, note);
  std::ranges::reverse(arguments);  // CLI11 wants them last first
  app.parse(std::move(arguments));
}

int end_with_message(const std::function<int()>& run) {
  try {
    return run();
  } catch (const ReaderGone&) {
    end_by_sigpipe();
  } catch (const std::bad_alloc&) {
    say("error: out of memory");
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    say(std::string("error: ") + (no_thread ? "cannot start a thread: " : "") + error.what() +
        (no_thread ? "; raise the limit (ulimit -u, ulimit -v)" : ""));
  } catch (const std::exception& error) {
    say(std::string("error: ") + error.what());
  }
  return 1;
}

}  // namespace leveret::cli
