/* Preloaded into a program: from the thread on that has the number of the environment's
 * LEVERET_NO_THREAD (1: the first), no thread can be started, as beyond `ulimit -u` or -v. Threads
 * of MPI's libraries are none of ours. The file that LEVERET_NO_THREAD_SAYS names is made when a
 * thread was refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*create_function)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static atomic_int started;

static int is_ours(void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return 0;
  return strstr(info.dli_fname, "libstdc++") != NULL || strstr(info.dli_fname, ".so") == NULL;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  create_function create;  // ISO C has no conversion of what dlsym returns
  *(void**)&create = dlsym(RTLD_NEXT, "pthread_create");
  const char* const number = getenv("LEVERET_NO_THREAD");
  const char* const says = getenv("LEVERET_NO_THREAD_SAYS");
  if (number != NULL && is_ours(__builtin_return_address(0)) &&
      atomic_fetch_add(&started, 1) + 1 >= atoi(number)) {
    if (says != NULL) close(open(says, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    return EAGAIN;
  }
  return create(thread, attributes, work, argument);
}
