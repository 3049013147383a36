/// The effect of signals on the programs: they end the work, or the input, and leave no temporary
/// files.
#pragma once

#include <signal.h>

#include <array>

#include "publish/watch.h"
#include "stream/example_source.h"

namespace leveret::cli {

/// From the start of the program on: SIGINT, SIGTERM and SIGHUP remove this process's temporary
/// files and then end it as they do by default; those that are ignored stay so. SIGPIPE and SIGXFSZ
/// do nothing: writing to a closed pipe, or beyond `ulimit -f`, is an error of write(), and files
/// are left in order.
void prepare_signals();

/// While it lives, the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 (which mpirun hands on) ends the
/// source's input (what was read is still worked on, and the work ends as if the input had).
/// Another one within a second of it is the same request: timeout(1) signals its child and then its
/// process group, mpirun and systemd do alike. One that comes later ends the program at once, and
/// says so. With Then::kEndSoon the program also ends, as at a later signal, some seconds after the
/// first. A SIGHUP that was ignored when the program started, as under nohup, stays so.
class StopOnSignal {
 public:
  enum class Then {
    kEnd,      ///< however long that takes: a model is saved
    kEndSoon,  ///< else, after some seconds, as at a later signal: whoever reads may never go on
  };
  explicit StopOnSignal(Then then = Then::kEnd);
  explicit StopOnSignal(stream::ExampleSource& source, Then then = Then::kEnd)
      : StopOnSignal(then) {
    watch(&source);
  }
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  /// The source that a signal ends from now on, or has ended if it came before; null: none. It
  /// lives until the next call.
  void watch(stream::ExampleSource* source);
  bool stopped() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};

  std::array<struct sigaction, kSignals.size()> before_;
};

/// From its beginning to the end of the program SIGHUP asks for a look at what is watched, and does
/// nothing else: under nohup and beside a StopOnSignal, too. One at a time.
class LookOnHangup {
 public:
  LookOnHangup();
  ~LookOnHangup();
  LookOnHangup(const LookOnHangup&) = delete;
  LookOnHangup& operator=(const LookOnHangup&) = delete;
  /// The watch that looks from now on; null: there is none, and a SIGHUP means nothing.
  void watch(publish::WatchThread* watch);
};

}  // namespace leveret::cli
