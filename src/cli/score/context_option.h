/// The option --context of the verbs that answer requests.
#pragma once

#include <string>
#include <vector>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// Lists of namespaces, which split_context makes names of once the options are parsed.
void add_context_option(CLI::App& verb, std::vector<std::string>& context, const char* help);
/// Names in place of lists of them. Misuse is CLI::ValidationError.
void split_context(std::vector<std::string>& context);

}  // namespace leveret::cli
