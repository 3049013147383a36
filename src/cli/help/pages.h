/// Pages of help, of 80 columns.
#pragma once

#include <string>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// `PROGRAM VERB --help`: the options that people use, where screens.h has them, else all.
std::string help_page(const CLI::App& app, const CLI::App& verb);

/// `PROGRAM VERB --help_all`: all options, and the keys of each.
std::string options_page(const CLI::App& app, const CLI::App& verb);

/// `PROGRAM help`: the verbs.
std::string verbs_page(const CLI::App& app);

}  // namespace leveret::cli
