#include "patch/patch.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "modelfile/model_line.h"
#include "options/numbers.h"

namespace leveret::cli {
namespace {

struct PatchOptions {
  std::string before, now;
  std::vector<std::string> patches;
  unsigned threads = processors();
  bool overwrite = false;
};

/// A patch of another line fits nowhere, which is more than a wrong fingerprint says.
void check_line(const std::string& path, const patch::PatchChain& chain) {
  if (chain.front(0).kind != patch::PatchKind::kSections) return;
  const modelfile::ModelPlace place = modelfile::place_of(store::ModelFile::open(path));
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!modelfile::are_strangers(chain.front(i).line, place.line)) continue;
    throw std::runtime_error(fmt::format(
        "{} is for models of line {}, but {} is of line {}; take a patch of its own", chain.path(i),
        modelfile::line_text(chain.front(i).line), path, modelfile::line_text(place.line)));
  }
}

int run_patch(PatchOptions& options) {
  FileUses uses;
  uses.add_model("OLD", options.before);
  for (const std::string& path : options.patches) uses.add_read("PATCH", path);
  const store::Content before = store::content_of(options.before);
  // A patch of bytes makes a file of any kind.
  const bool is_model = before == store::Content::kModel || before == store::Content::kExport;
  if (options.now == "-") {
    uses.add_output("-o", options.now, before);
  } else {
    uses.add_saved_model("-o", options.now, before);
  }
  uses.check(options.overwrite || !is_model);
  options.now = binary_output(options.now);
  if (std::ranges::count(options.patches, "-") > 1) {
    throw CLI::ValidationError("only one patch can come from standard input");
  }
  patch::PatchChain chain(options.patches);
  check_line(options.before, chain);
  const std::size_t applied =
      patch::apply_patches(options.before, chain, options.now, options.threads);
  if (applied == 0) {
    say(fmt::format("{} is what {} makes already: nothing to do", options.before,
                    chain.path(chain.size() - 1)));
  }
  return 0;
}

}  // namespace

void setup_patch(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PatchOptions>();
  CLI::App* verb = app.add_subcommand("patch", "make a newer model of an old one and patches");
  verb->add_option("old", options->before, "the model that the first patch is for")
      ->type_name("OLD")
      ->required();
  verb->add_option("patch", options->patches, "patches, one after the other; -: standard input")
      ->type_name("PATCH")
      ->required();
  verb->add_option("-o,--output", options->now,
                   "write the newer model here, which may be OLD; -: standard output")
      ->type_name("NEW")
      ->check(not_empty())
      ->required();
  verb->add_option("--threads", options->threads, "threads; default: as many as processors")
      ->type_name("N")
      ->transform(options::within(1, 1024));
  add_overwrite_option(*verb, options->overwrite);
  verb->callback([options, &exit_code] { exit_code = run_patch(*options); });
}

}  // namespace leveret::cli
