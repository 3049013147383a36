#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/look/describe.h"
#include "cli/verbs.h"

namespace leveret::cli {
namespace {

struct InspectOptions {
  std::string file;
  bool json = false;
};

int run_inspect(const InspectOptions& options) {
  FileUses uses;
  uses.add_model("the inspected", options.file);
  uses.add_result("", "-");
  uses.check();
  using Json = nlohmann::ordered_json;
  const Json description = describe_file(options.file);
  Output output("");
  // Names come from data and may be no UTF-8, which JSON has to be.
  output.write(options.json
                   ? description.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                   : description_text(description));
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
  verb->add_flag("--json", options->json, "one line of JSON");
  verb->callback([options, &exit_code] { exit_code = run_inspect(*options); });
}

}  // namespace leveret::cli
