#include "cli/man_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace leveret::cli {
namespace {

/// `man -w` finds a page without showing it.
bool has_page(const char* section, const std::string& page) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  std::string words[] = {"man", "-w", section, page};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawnp(&child, "man", &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return started && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

void become_man_page(const char* section, const std::string& page) {
  if (!has_page(section, page)) return;
  // Signals that this program ignores man would ignore, too, and the pager's end is a SIGPIPE to
  // it.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  execlp("man", "man", section, page.c_str(), nullptr);
}

}  // namespace leveret::cli
