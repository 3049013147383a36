/// The verbs of the command line. Each has a file of its own: an options struct, setup_x, run_x.
/// `setup_x` adds the subcommand; when it is the one called, it runs and sets `exit_code`
/// (0 success, 1 an error in the work; misuse is CLI11's to find and main's to turn into 2).
#pragma once

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// "0.1.0".
const char* version();

void setup_train(CLI::App& app, int& exit_code);
void setup_predict(CLI::App& app, int& exit_code);
void setup_serve(CLI::App& app, int& exit_code);
void setup_evaluate(CLI::App& app, int& exit_code);
void setup_compare(CLI::App& app, int& exit_code);
void setup_export(CLI::App& app, int& exit_code);
void setup_schema(CLI::App& app, int& exit_code);
void setup_inspect(CLI::App& app, int& exit_code);
void setup_audit(CLI::App& app, int& exit_code);
void setup_diff(CLI::App& app, int& exit_code);
void setup_patch(CLI::App& app, int& exit_code);
void setup_publish(CLI::App& app, int& exit_code);
void setup_convert(CLI::App& app, int& exit_code);
void setup_help(CLI::App& app, int& exit_code);

}  // namespace leveret::cli
