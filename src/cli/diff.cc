#include <fmt/format.h>

#include <memory>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/model_line.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "store/patch.h"

namespace leveret::cli {
namespace {

struct DiffOptions {
  std::string before, now, patch;
  bool bytes = false;
  unsigned threads = processors();
};

void diff_models(const DiffOptions& options) {
  const store::ModelFile before = store::ModelFile::open(options.before);
  const store::ModelFile now = store::ModelFile::open(options.now);
  const ModelPlace from = place_of(before), to = place_of(now);
  if (are_strangers(from.line, to.line)) {
    throw std::runtime_error(fmt::format(
        "{} is of line {}, but {} is of line {}: their options of the model differ, and no patch "
        "of one becomes the other; send the whole file, or use --bytes",
        options.before, line_text(from.line), options.now, line_text(to.line)));
  }
  store::make_patch(before, now, {to.line, from.sequence, to.sequence}, options.patch,
                    options.threads);
}

int run_diff(DiffOptions& options) {
  FileUses uses;
  uses.add_model("OLD", options.before);
  uses.add_model("NEW", options.now);
  uses.add_output("-o", options.patch);
  uses.check();
  options.patch = binary_output(options.patch);
  if (options.bytes) {
    store::make_byte_patch(options.before, options.now, options.patch, options.threads);
  } else {
    diff_models(options);
  }
  return 0;
}

}  // namespace

void setup_diff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* verb = app.add_subcommand("diff", "a patch that makes one model of another");
  verb->add_option("old", options->before, "the model that the patch is for")
      ->type_name("OLD")
      ->required();
  verb->add_option("new", options->now, "the model that it makes")->type_name("NEW")->required();
  verb->add_option("-o,--output", options->patch, "write the patch here; -: standard output")
      ->type_name("PATCH")
      ->check(not_empty())
      ->required();
  verb->add_flag("--bytes", options->bytes, "for files of any kind");
  verb->add_option("--threads", options->threads, "threads; default: as many as processors")
      ->type_name("N")
      ->check(within(1, 1024));
  verb->callback([options, &exit_code] { exit_code = run_diff(*options); });
}

}  // namespace leveret::cli
