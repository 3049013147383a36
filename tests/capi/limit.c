/* limit MODEL PATCH: beyond the limit of file sizes (ulimit -f) a patch is an error, the host
 * lives, and its signals are as they were: by default SIGXFSZ would have ended it. The model stays.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static int calls = 0;

static void count(int number) {
  (void)number;
  ++calls;
}

static int is_in(int number, int pending) {
  sigset_t set;
  if (pending) {
    sigpending(&set);
  } else {
    pthread_sigmask(SIG_BLOCK, NULL, &set);
  }
  return sigismember(&set, number);
}

static void refused(leveret_model* model, const char* patch, const char* to) {
  CHECK(leveret_model_patch(model, &patch, 1, to) == LEVERET_BAD_FILE);
  CHECK(strstr(leveret_error_message(), "ulimit -f") != NULL);
  CHECK(!is_in(SIGXFSZ, 0));
  CHECK(!is_in(SIGXFSZ, 1));
}

int main(int argc, char** argv) {
  static void (*const handlers[])(int) = {SIG_DFL, SIG_IGN, count};
  const struct rlimit limit = {16384, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
  leveret_model* model = NULL;
  size_t i;
  if (argc != 3) return 2;
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  if (failures > 0) return 1;
  for (i = 0; i < 3; ++i) {
    struct sigaction now;
    CHECK(signal(SIGXFSZ, handlers[i]) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    refused(model, argv[2], "saved.lvt");
    refused(model, argv[2], NULL);
    CHECK(sigaction(SIGXFSZ, NULL, &now) == 0);
    CHECK(now.sa_handler == handlers[i]);
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  CHECK(calls == 0);
  { /* Nobody reads the pipe. */
    int ends[2];
    char to[32];
    const char* const patch = argv[2];
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    sprintf(to, "/dev/fd/%d", ends[1]);
    CHECK(leveret_model_patch(model, &patch, 1, to) != LEVERET_OK);
    CHECK(!is_in(SIGPIPE, 1));
    close(ends[1]);
  }
  {
    const char* const patch = argv[2];
    CHECK(leveret_model_patch(model, &patch, 1, "saved.lvt") == LEVERET_OK);
  }
  leveret_model_close(model);
  return failures != 0;
}
