#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/look/describe.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "modelfile/model_line.h"
#include "options/numbers.h"
#include "patch/patch.h"

namespace leveret::cli {
namespace {

struct DiffOptions {
  std::string before, now, patch;
  bool bytes = false;
  bool explain = false;
  bool overwrite = false;
  unsigned threads = processors();
};

/// The changes, kind by kind, and how many bytes they would take at least.
std::string explanation(const patch::PatchReport& report) {
  const auto ratio = [](std::uint64_t bytes, double entropy) {
    return entropy > 0 ? fmt::format("{:.3f}", static_cast<double>(bytes) / entropy) : "-";
  };
  std::string text = fmt::format("{:<28} {:>11} {:>11} {:>11} {:>11} {:>11} {:>7}\n", "kind",
                                 "codes", "changed", "fresh", "entropy", "bytes", "ratio");
  double entropy = 0;
  std::uint64_t bytes = 0;
  for (const patch::KindReport& kind : report.kinds) {
    const bool known = kind.entropy_bytes >= 0;
    text += fmt::format("{:<28} {:>11} {:>11} {:>11} {:>11} {:>11} {:>7}\n", printable(kind.kind),
                        kind.codes, kind.changes, kind.fresh,
                        known ? fmt::format("{:.0f}", kind.entropy_bytes) : "-", kind.bytes,
                        ratio(kind.bytes, kind.entropy_bytes));
    if (known) entropy += kind.entropy_bytes, bytes += kind.bytes;
  }
  text += fmt::format("{:<28} {:>11} {:>11} {:>11} {:>11.0f} {:>11} {:>7}\n", "all with an entropy",
                      "", "", "", entropy, bytes, ratio(bytes, entropy));
  text += fmt::format("{:<28} {:>11} {:>11} {:>11} {:>11.0f} {:>11}\n",
                      "keys, and rows that change", report.keys, report.changed_rows, "",
                      report.changed_rows_entropy, report.key_bytes);
  return text + fmt::format("{:<28} {:>71}\n", "patch", report.patch_bytes);
}

void diff_models(const DiffOptions& options) {
  const store::ModelFile before = store::ModelFile::open(options.before);
  const store::ModelFile now = store::ModelFile::open(options.now);
  const modelfile::ModelPlace from = modelfile::place_of(before), to = modelfile::place_of(now);
  if (modelfile::are_strangers(from.line, to.line)) {
    throw std::runtime_error(fmt::format(
        "{} is of line {}, but {} is of line {}: their options of the model differ, and no patch "
        "of one becomes the other; send the whole file, or use --bytes",
        options.before, modelfile::line_text(from.line), options.now,
        modelfile::line_text(to.line)));
  }
  patch::PatchReport report;
  patch::make_patch(before, now, {to.line, from.sequence, to.sequence}, options.patch,
                    options.threads, options.explain ? &report : nullptr);
  if (!options.explain) return;
  Output output("");
  output.write(explanation(report));
  output.close();
}

int run_diff(DiffOptions& options) {
  if (options.patch.empty()) {
    if (!options.explain) throw CLI::ValidationError("-o PATCH is missing");
    options.patch = "/dev/null";
  }
  FileUses uses;
  uses.add_model("OLD", options.before);
  uses.add_model("NEW", options.now);
  uses.add_output("-o", options.patch, store::Content::kPatch);
  if (options.explain) uses.add_result("", "-");
  uses.check(options.overwrite);
  options.patch = binary_output(options.patch);
  if (options.bytes) {
    patch::make_byte_patch(options.before, options.now, options.patch, options.threads);
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
      ->check(not_empty());
  add_overwrite_option(*verb, options->overwrite);
  CLI::Option* const bytes = verb->add_flag("--bytes", options->bytes, "for files of any kind");
  verb->add_flag("--explain", options->explain,
                 "print what changed and the entropy of it; -o may be missing")
      ->excludes(bytes);
  verb->add_option("--threads", options->threads, "threads; default: as many as processors")
      ->type_name("N")
      ->transform(options::within(1, 1024));
  verb->callback([options, &exit_code] { exit_code = run_diff(*options); });
}

}  // namespace leveret::cli
