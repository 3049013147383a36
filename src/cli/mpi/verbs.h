/// The verbs of leveret-mpi. See verbs.h; all ranks parse the same command line.
#pragma once

#include "dist/talk/communicator.h"
#include "options/cli11_fwd.h"

namespace leveret::cli {

void setup_mpi_train(CLI::App& app, dist::Communicator& ranks, int& exit_code);
void setup_mpi_predict(CLI::App& app, dist::Communicator& ranks, int& exit_code);
void setup_mpi_evaluate(CLI::App& app, dist::Communicator& ranks, int& exit_code);
void setup_mpi_export(CLI::App& app, dist::Communicator& ranks, int& exit_code);
void setup_mpi_gather(CLI::App& app, dist::Communicator& ranks, int& exit_code);

}  // namespace leveret::cli
