#include "cli/process.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace leveret::cli {

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest number that is free is this one, as those below it are open by now.
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) _exit(1);
  }
}

void end_by_sigpipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  _exit(128 + SIGPIPE);  // where the signal is blocked
}

long launched_copies() {
  // Open MPI, MPICH and Intel MPI, Slurm's srun.
  long copies = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) copies = std::max(copies, std::strtol(value, nullptr, 10));
  }
  return copies;
}

unsigned processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  }
  return std::thread::hardware_concurrency();
}

}  // namespace leveret::cli
