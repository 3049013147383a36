#include "cli/textfile.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <span>

#include "cli/console.h"
#include "cli/input.h"
#include "files/atomic_file.h"

namespace leveret::cli {

void ToldOnce::tell(const std::string& problem) {
  if (!problem.empty() && problem != told_) say("warning: " + problem);
  told_ = problem;
}

void Textfile::write(const std::string& text) try {
  if (!wanted()) return;
  files::AtomicFile file(path_);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  told_.tell("");
} catch (const std::exception& error) {
  told_.tell(error.what());
}

CLI::Option* add_textfile_option(CLI::App& verb, std::string& path, const std::string& when) {
  return verb
      .add_option("--textfile", path,
                  "metrics for Prometheus' textfile collector, written anew " + when)
      ->type_name("FILE")
      ->check(not_empty())
      ->check([](const std::string& name) {
        return name == "-" ? "metrics are written whole, to a file: name one" : std::string();
      });
}

}  // namespace leveret::cli
