#include "cli/score/slice_options.h"

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <utility>

#include "cli/input.h"
#include "options/numbers.h"

namespace leveret::cli {

void add_slice_options(CLI::App& verb, SliceOptions& options, const std::string& more) {
  CLI::Option* by = verb.add_option("--by", options.by,
                                    "also by slices: what lines have in this namespace" + more)
                        ->type_name("NS")
                        ->check(not_empty());
  verb.add_option("--top", options.top, "with --by: the N slices with most examples")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000))
      ->capture_default_str()
      ->needs(by);
}

std::vector<metrics::Slice> take_slices(publish::LineSlices& slices, const SliceOptions& options) {
  if (options.by.empty()) return {};
  if (!slices.has_any()) {
    throw std::runtime_error("--by " + options.by + ": no line has a feature of this namespace");
  }
  return std::move(slices).largest(options.top);
}

}  // namespace leveret::cli
