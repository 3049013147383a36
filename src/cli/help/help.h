/// Help goes to standard output, misuse with a hint at what was meant to standard error.
#pragma once

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// --help and --help_all, of the program and of verbs that are added behind this.
void set_help_flags(CLI::App& app);

/// Answers what the parser stopped at: prints the help that was asked for and returns 0, or says
/// what is wrong with the command line and returns 2.
int end_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace leveret::cli
