#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/look/describe.h"
#include "cli/look/namespace_worth.h"
#include "cli/look/weights.h"
#include "cli/score/figures.h"
#include "cli/score/served_model.h"
#include "cli/verbs.h"
#include "options/numbers.h"
#include "text/plain_number.h"

namespace leveret::cli {
namespace {

struct InspectOptions {
  std::string file;
  bool json = false;
  bool all = false;
  bool weights = false;
  std::size_t top = 50;
  InputOptions names;  ///< data to find names of features in; none: they stay hashes
  bool fields = false;
  InputOptions data;  ///< of `fields`
};

void check_files(const InspectOptions& options) {
  FileUses uses;
  uses.add_model("the inspected", options.file);
  for (const std::string& path : options.names.data) uses.add_read("--names", path);
  for (const std::string& path : options.data.data) uses.add_read("-d", path);
  uses.add_result("", "-");
  uses.check();
}

std::string description(const InspectOptions& options) {
  const nlohmann::ordered_json description = describe_file(options.file);
  if (options.json) return json_line(description);
  return description_text(description, options.all ? Detail::kAll : Detail::kSummary);
}

std::string weights(const InspectOptions& options) {
  const ServedModel served(options.file, false);
  const model::Model& model = *served.get();
  std::vector<FeatureWeight> all = largest_weights(model, options.top);
  if (!options.names.data.empty()) name_features(model, options.names, all);
  return weights_text(model, all, options.json);
}

std::string fields(const InspectOptions& options) {
  const ServedModel served(options.file, false);
  return worth_text(namespaces_worth(served.get(), options.data), options.json);
}

int run_inspect(const InspectOptions& options) {
  check_files(options);
  const std::string text = options.weights  ? weights(options)
                           : options.fields ? fields(options)
                                            : description(options);
  Output output("");
  output.write(text);
  output.close();
  return 0;
}

}  // namespace

void setup_inspect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* verb = app.add_subcommand("inspect", "what is in a file, with every checksum verified");
  verb->add_option("file", options->file, "a model, or another file or folder that leveret wrote")
      ->type_name("FILE")
      ->required();
  verb->add_flag("--json", options->json, "one line of JSON, complete");
  CLI::Option* all =
      verb->add_flag("--all", options->all, "list all options, fields and sections of a model");
  CLI::Option* weights = verb->add_flag("--weights", options->weights,
                                        "list the features with the largest linear weights")
                             ->excludes(all);
  verb->add_option("--top", options->top, "with --weights: the number of features")
      ->type_name("N")
      ->transform(options::within(1, text::kAnyWhole))
      ->capture_default_str()
      ->needs(weights);
  verb->add_option("--names", options->names.data,
                   "with --weights: find the names of features in this data")
      ->type_name("FILE")
      ->check(not_empty())
      ->needs(weights);
  CLI::Option* fields =
      verb->add_flag("--fields", options->fields,
                     "of a model: what each namespace is worth on the labelled lines of -d")
          ->excludes(weights)
          ->excludes(all);
  CLI::Option* data =
      verb->add_option("-d,--data", options->data.data,
                       "with --fields: VW text, plain, gzip or zstd; -: standard input")
          ->type_name("TEXT")
          ->check(not_empty())
          ->needs(fields);
  fields->needs(data);
  verb->callback([options, &exit_code] { exit_code = run_inspect(*options); });
}

}  // namespace leveret::cli
