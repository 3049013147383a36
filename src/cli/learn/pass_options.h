/// Options about passes over the input: what is held out of several, and when they are enough.
#pragma once

#include <cstdint>

#include "options/cli11_fwd.h"

namespace leveret::cli {

struct PassOptions {
  bool off = false;  ///< all examples are learned, in all passes
  std::uint64_t period = 10;
  std::uint64_t patience = 3;  ///< passes without a gain that are enough

  bool period_given = false, patience_given = false;

  /// In one pass each example is predicted before it is learned: nothing need be held out.
  bool holds_out(unsigned passes) const { return passes > 1 && !off; }
};

void add_pass_options(CLI::App& app, PassOptions& options);
void add_holdout_off(CLI::App& app, PassOptions& options);
/// Misuse is CLI::ValidationError.
void check_pass_options(const PassOptions& options);

}  // namespace leveret::cli
