#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/process.h"
#include "cli/raw_rows.h"
#include "cli/score/comparison.h"
#include "cli/score/served_model.h"
#include "cli/score/slice_options.h"
#include "cli/verbs.h"
#include "options/numbers.h"
#include "publish/judge.h"

namespace leveret::cli {
namespace {

/// B is worse, or, with --better, not better.
constexpr int kNotGoodEnough = 3;

struct CompareOptions {
  InputOptions input;
  std::string a, b;
  SliceOptions slices;
  double tolerance = 0;
  bool better = false;
  bool json = false;
};

/// Both read the same lines, so the rows must become the same for both.
void check_same_schema(const CompareOptions& options, const model::Model& a,
                       const model::Model& b) {
  if (options.input.rows == nullptr || a.schema() == nullptr) return;
  if (b.schema() != nullptr && *a.schema()->get() == *b.schema()->get()) return;
  throw std::runtime_error(
      fmt::format("{} and {} read raw rows by different schemas: evaluate each by itself, or learn "
                  "both by the same --schema",
                  options.a, options.b));
}

int run_compare(const CompareOptions& options) {
  const ServedModel a(options.a, false), b(options.b, false);
  publish::Judge judge({a.get(), b.get()},
                       {options.slices.by, static_cast<std::uint32_t>(options.input.max_line)});
  check_same_schema(options, *a.get(), *b.get());
  read_rows_for(options.input, *a.get(), options.a, /*needs_label=*/true);
  const auto tally = bad_line_tally(options.input);
  const auto source = open_lines(options.input, {2});
  work_through(*source, *tally, {[&] { return tally->good(); }}, [&] {
    text::ExampleChunk chunk;
    while (source->next(chunk)) {
      judge.add(chunk);
      tally->add(chunk, source->source_name(chunk.source));
    }
  });
  tally->finish();
  const std::vector<metrics::Slice> slices = take_slices(judge.slices(), options.slices);
  const Compared compared = compare(
      {judge.scores(), slices, options.slices.by, options.tolerance, processors()}, options.json);
  Output output("");
  output.write(compared.text);
  output.close();
  using metrics::Standing;
  const bool good = options.better ? compared.standing == Standing::kBetter
                                   : compared.standing != Standing::kWorse;
  return good ? 0 : kNotGoodEnough;
}

void check_files(const CompareOptions& options) {
  FileUses uses;
  uses.add_model("model A", options.a);
  uses.add_model("model B", options.b);
  uses.add(options.input);
  uses.add_result("", "-");
  uses.check();
}

}  // namespace

void setup_compare(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* verb =
      app.add_subcommand("compare", "two models on the same lines; exit code 3 where B is worse");
  verb->add_option("a", options->a, "the model that is in use")
      ->type_name("A")
      ->check(not_empty())
      ->required();
  verb->add_option("b", options->b, "the model that is to take its place")
      ->type_name("B")
      ->check(not_empty())
      ->required();
  add_input_options(*verb, options->input);
  add_format_option(*verb, options->input);
  add_slice_options(*verb, options->slices);
  verb->add_option("--tolerance", options->tolerance, "what B's logloss may be above A's")
      ->type_name("X")
      ->transform(options::real_within(0, 100))
      ->default_str("0");
  verb->add_flag("--better", options->better,
                 "exit code 3 also where the lines do not show that B is better");
  verb->add_flag("--json", options->json, "one line of JSON");
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    check_files(*options);
    exit_code = run_compare(*options);
  });
}

}  // namespace leveret::cli
