/// Preloaded into any build of leveret: how long its threads stand still while one of them has the
/// model to itself (a table grows, a field comes).
///
/// What threads learn from is guarded by the program's only std::shared_mutex
/// (src/train/shape_mutex.h), so the time in which its lock is held for writing is the time of all
/// but one. The figures, one line, go to the file that SHAPE_STOPS names:
///   times alone, milliseconds alone, milliseconds from asking to being alone, longest one alone
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using LockFunction = int (*)(pthread_rwlock_t*);

LockFunction next_function(const char* name) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for
  return reinterpret_cast<LockFunction>(dlsym(RTLD_NEXT, name));
}

std::uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::atomic<std::uint64_t> stops{0}, alone{0}, asking{0}, longest{0};

// The lock that this thread has to itself, and since when.
thread_local pthread_rwlock_t* held = nullptr;
thread_local std::uint64_t since = 0;

struct Report {
  ~Report() {
    const char* path = std::getenv("SHAPE_STOPS");
    std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    auto ms = [](const std::atomic<std::uint64_t>& ns) { return static_cast<double>(ns) * 1e-6; };
    std::fprintf(file, "%llu %.3f %.3f %.3f\n", static_cast<unsigned long long>(stops), ms(alone),
                 ms(asking), ms(longest));
    std::fclose(file);
  }
} report;

}  // namespace

extern "C" int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static const LockFunction next = next_function("pthread_rwlock_wrlock");
  std::uint64_t asked = nanoseconds();
  int result = next(lock);
  if (result != 0) return result;
  held = lock;
  since = nanoseconds();
  asking += since - asked;
  return 0;
}

extern "C" int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  static const LockFunction next = next_function("pthread_rwlock_unlock");
  if (held == lock) {
    std::uint64_t time = nanoseconds() - since;
    held = nullptr;
    ++stops;
    alone += time;
    std::uint64_t most = longest;
    while (time > most && !longest.compare_exchange_weak(most, time)) {
    }
  }
  return next(lock);
}
