#include "cli/signals.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include "files/temporary_names.h"

namespace leveret::cli {
namespace {

// All that a handler knows. It may run on any thread, and on several at a time.
std::atomic<stream::ExampleSource*> signalled_source{nullptr};
std::atomic<bool> can_stop{false};        ///< a StopOnSignal lives
std::atomic<std::int64_t> first_time{0};  ///< of the signal that has stopped it; 0: none has
std::atomic<int> first_signal{0};
std::atomic<bool> must_end_soon{false};
std::atomic<bool> hangup_looks{false};  ///< a LookOnHangup lives, or has lived
std::atomic<publish::WatchThread*> watching{nullptr};
std::atomic<pid_t> ender{0};  ///< the thread that ends the process; 0: none does

constexpr std::int64_t kSameRequest = 1'000'000'000;  // nanoseconds
constexpr unsigned kSoon = 5;                         // seconds

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Handlers block the signals of all handlers, so this thread hears no other, until end_by raises
/// its own again and lets it through: that is heard here once more where ~StopOnSignal, in another
/// thread, has put the handler back meanwhile.
void remove_files_once(int signal) {
  pid_t before = 0;
  const pid_t self = gettid();
  if (ender.compare_exchange_strong(before, self)) return files::remove_temporaries();
  if (before == self) _exit(128 + signal);
  while (true) pause();  // that thread ends the process
}

[[noreturn]] void end_at_once(int signal) {
  constexpr std::string_view kMessage = "leveret: ended at once by a second signal\n";
  remove_files_once(signal);
  if (signal != SIGALRM) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  }
  _exit(128 + (signal == SIGALRM ? first_signal.load() : signal));
}

[[noreturn]] void end_by(int signal) {
  remove_files_once(signal);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  _exit(128 + signal);
}

void hear(int signal) {
  if (signal == SIGHUP && hangup_looks) {
    if (publish::WatchThread* const watch = watching.load()) watch->look_now();
    return;
  }
  std::int64_t first = 0;
  const std::int64_t time = now();
  if (can_stop && first_time.compare_exchange_strong(first, time)) {
    first_signal = signal;
    if (must_end_soon) alarm(kSoon);
    if (stream::ExampleSource* source = signalled_source.load()) source->stop();
    return;
  }
  first = first_time;
  if (first != 0 && signal != SIGALRM && time - first <= kSameRequest) return;
  if (can_stop) end_at_once(signal);
  if (signal != SIGALRM) end_by(signal);  // the work is done, or nothing is to be saved
}

void on_signal(int signal) {
  const int saved_errno = errno;
  hear(signal);
  errno = saved_errno;
}

struct sigaction handling() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM}) {
    sigaddset(&action.sa_mask, signal);
  }
  return action;
}

}  // namespace

void prepare_signals() {
  struct sigaction ignoring {};
  ignoring.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignoring, nullptr);
  sigaction(SIGXFSZ, &ignoring, nullptr);
  const struct sigaction action = handling();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

StopOnSignal::StopOnSignal(Then then) {
  first_time = 0;
  must_end_soon = then == Then::kEndSoon;
  can_stop = true;
  const struct sigaction action = handling();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // Scripts have their background jobs ignore SIGINT, too; who sends it to one means it.
    const bool nohup = kSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    const bool alarm_of_others = kSignals[i] == SIGALRM && !must_end_soon;
    if (!nohup && !alarm_of_others) sigaction(kSignals[i], &action, nullptr);
  }
}

/// A repeated signal may come when all is done: the handlers stay, to hear it.
StopOnSignal::~StopOnSignal() {
  alarm(0);
  can_stop = false;
  signalled_source = nullptr;
  if (stopped()) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

void StopOnSignal::watch(stream::ExampleSource* source) {
  signalled_source = source;
  if (source != nullptr && stopped()) source->stop();
}

bool StopOnSignal::stopped() const { return first_time != 0; }

LookOnHangup::LookOnHangup() {
  hangup_looks = true;
  const struct sigaction action = handling();
  sigaction(SIGHUP, &action, nullptr);
}

/// The handler stays: who asks for a look when all is done does not end the program.
LookOnHangup::~LookOnHangup() { watching = nullptr; }

void LookOnHangup::watch(publish::WatchThread* watch) { watching = watch; }

}  // namespace leveret::cli
