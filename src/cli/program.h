/// Code that the programs of the command line share: how they read their arguments, and how
/// they end.
#pragma once

#include <functional>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// False, and told, when LEVERET_SIMD asks for what this machine does not have.
bool has_kernels();

/// Parses the arguments and runs the verb that they name. Long options take `_` or `-` alike: they
/// are registered with `_`. Vowpal Wabbit's words are taken (vw/take.h), and what there is to note
/// of them is told, if this process `speaks`. CLI::ParseError is for end_parse (help.h).
void parse(CLI::App& app, int argc, char** argv, bool speaks = true);

/// The exit code of `run`, or, after saying what went wrong, 1. Where the reader of standard output
/// has gone it does not return.
int end_with_message(const std::function<int()>& run);

}  // namespace leveret::cli
