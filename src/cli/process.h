/// How a process starts and how it ends: standard descriptors, launchers, SIGPIPE,
/// processors.
#pragma once

namespace leveret::cli {

/// Opens /dev/null in place of each standard descriptor that is closed, so that no file of the user
/// takes its number. First of all: before anything is opened. What is written to a standard output
/// that was closed is an error, not lost: its descriptor is opened for reading.
void open_standard_descriptors();

/// Ends the process as SIGPIPE does by default: without a word. Never returns.
[[noreturn]] void end_by_sigpipe();

/// How many copies of the program an MPI or Slurm launcher started beside each other; 1 without.
long launched_copies();

/// How many of the machine's processors this process may use (taskset, cpuset). A share of the time
/// of several, which containers may have, is not meant.
unsigned processors();

}  // namespace leveret::cli
