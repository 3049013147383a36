/// Help goes to standard output, misuse with a hint at what was meant to standard error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// Answers what the parser stopped at: prints the help that was asked for and returns 0, or says
/// what is wrong with the command line and returns 2.
int end_parse(const CLI::App& app, const CLI::ParseError& error);

/// The one of `known` that `typed` was probably meant to be; empty when none is near. Distances are
/// in edits of a letter, swaps of neighbours counted as one.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

}  // namespace leveret::cli
