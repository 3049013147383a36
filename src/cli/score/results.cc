#include "cli/score/results.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "options/numbers.h"

namespace leveret::cli {

void add_link_option(CLI::App& verb, std::string& link) {
  verb.add_option("--link", link,
                  "what predictions are: logistic, a probability; identity, its log-odds")
      ->check(options::one_of(std::vector<std::string>{"logistic", "identity"}))
      ->type_name("LINK")
      ->capture_default_str();
}

void add_result_options(CLI::App& verb, ResultOptions& options) {
  verb.add_option("-p,--predictions", options.predictions, "write here instead of stdout")
      ->type_name("FILE")
      ->transform(result_name())
      ->check(not_empty());
  verb.add_option("-r,--raw_predictions", options.raw_predictions, "write the log-odds here, too")
      ->type_name("FILE")
      ->transform(result_name())
      ->check(not_empty());
  add_overwrite_option(verb, options.overwrite);
  add_link_option(verb, options.link);
}

void add_results(FileUses& uses, const ResultOptions& options) {
  uses.add_result("-p", options.predictions);
  if (!options.raw_predictions.empty()) uses.add_result("-r", options.raw_predictions);
}

std::vector<std::unique_ptr<Result>> open_results(const ResultOptions& options, unsigned threads) {
  using Number = Result::Number;
  std::vector<std::unique_ptr<Result>> results;
  const Number number = options.link == "identity" ? Number::kScore : Number::kProbability;
  results.push_back(std::make_unique<Result>(options.predictions, threads, number));
  if (!options.raw_predictions.empty()) {
    results.push_back(std::make_unique<Result>(options.raw_predictions, threads, Number::kScore));
  }
  return results;
}

void check_whole(const Result& result, bool stopped) {
  if (!stopped || !result.output.appears_at_close()) return;
  throw std::runtime_error(fmt::format(
      "stopped by a signal: the predictions are not whole, and {} is as it was", result.path));
}

}  // namespace leveret::cli
