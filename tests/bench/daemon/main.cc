/// leveret-load: asks a server and prints a line of JSON: rates, latencies in milliseconds, and how
/// many answers were lost or wrong. Exit code 1 where any was.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "load.h"

namespace {

using leveret::load::Protocol;

struct Options {
  leveret::load::LoadOptions load;
  leveret::load::RequestOptions form;
  std::string requests;
  std::vector<std::string> answers;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("address", options.load.address, "ADDRESS:PORT, or the path of a Unix socket")
      ->required();
  app.add_option("--requests", options.requests,
                 "VW text, requests apart by empty lines; they come again and again")
      ->required();
  app.add_option("--protocol", options.form.protocol, "lines, http or json")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Protocol>{
          {"lines", Protocol::kLines}, {"http", Protocol::kHttp}, {"json", Protocol::kJson}}));
  app.add_flag("--context_lines", options.form.context_lines,
               "the first line of a request is the context of the others");
  app.add_option("--target", options.form.target, "of HTTP: /predict?model=NAME");
  app.add_option("--answers", options.answers,
                 "FINGERPRINT=FILE: what predict says of the requests with that model; each answer "
                 "is to be that of the model which it names, or of any, where it names none");
  app.add_option("--connections", options.load.connections)->check(CLI::Range(1, 10000));
  app.add_option("--pipeline", options.load.pipeline,
                 "requests that a connection sends before it has their answers; 0: any number");
  app.add_option("--rate", options.load.rate, "requests per second; 0: as fast as answers come");
  app.add_option("--seconds", options.load.seconds)->check(CLI::PositiveNumber);
  app.add_option("--warm_up", options.load.warm_up, "seconds at first that are not counted");
  app.add_option("--grace", options.load.grace, "seconds that answers have at the end");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Asks a server of predictions, and looks at each answer");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto requests = leveret::load::read_requests(options.requests, options.form);
    leveret::load::Expected expected(options.answers, requests, options.form);
    const leveret::load::Figures figures =
        leveret::load::run_load(options.load, options.form.protocol, requests, expected);
    fmt::print("{}\n", figures.json());
    if (!figures.first_problem.empty()) {
      fmt::print(stderr, "leveret-load: {}\n", figures.first_problem);
    }
    return figures.is_good() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "leveret-load: {}\n", error.what());
    return 1;
  }
}
