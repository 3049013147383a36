#include "publish/watch.h"

#include <signal.h>
#include <time.h>

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "files/file_state.h"
#include "publish/manifest.h"

namespace leveret::publish {
namespace {

using serve::Seen;
using What = Seen::What;
using std::chrono::milliseconds;

}  // namespace

Watch::Watch(serve::Place& place, std::string path, How how)
    : place_(place), path_(std::move(path)), how_(how), plain_(place, path_), follower_(path_) {}

Seen Watch::poll() {
  const bool follows = how_ == How::kMustFollow || files::state_of(manifest_path(path_));
  return follows ? follow() : plain_.poll();
}

bool Watch::is_too_early() const { return backoff_.waits() && !follower_.changed(); }

Seen Watch::follow() {
  if (is_too_early()) return {};
  Seen seen = take_way();
  if (seen.what != What::kFailed) {
    backoff_.succeeded();
    return seen;
  }
  return backoff_.failed(seen.problem) ? seen : Seen();
}

/// A file of the way may be pruned before it is read: with another manifest there is another way.
Seen Watch::take_way() {
  for (bool again = true;; again = false) {
    Way way;
    try {
      way = follower_.next(place_.get()->fingerprint());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      // Somebody publishes there for the first time, or will.
      const bool may_wait = how_ != How::kMustFollow || place_.get()->is_nothing();
      if (may_wait && dynamic_cast<const NoSteps*>(&error) != nullptr) return {};
      Seen seen;
      seen.what = What::kFailed;
      seen.problem = error.what();
      return seen;
    }
    if (way.nothing()) return {};
    Seen seen = serve::take(place_, way.full, way.patches);
    if (seen.what == What::kFailed && again && follower_.changed()) continue;
    if (seen.what == What::kSwapped) {
      seen.step = way.step;
      for (const std::string& file : way.avoided) {
        seen.problem += (seen.problem.empty() ? "" : "; ") + file;
      }
    }
    return seen;
  }
}

Newest open_newest(const std::string& folder) {
  const Way way = Follower(folder).next(std::nullopt);
  auto place = std::make_shared<serve::Place>(way.full);
  if (!way.patches.empty()) place->patch(way.patches, "");
  return {std::move(place), way.step};
}

WatchThread::WatchThread(std::shared_ptr<serve::Place> place, std::string path,
                         milliseconds interval, Report report, Watch::How how)
    : place_(std::move(place)),
      interval_(interval),
      report_(std::move(report)),
      watch_(*place_, std::move(path), how) {
  look();
  ::sem_init(&wake_, 0, 0);
  // A thread has the mask of the one that makes it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::sem_destroy(&wake_);
    throw std::runtime_error(std::string("cannot start a thread that watches: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WatchThread::~WatchThread() {
  ends_ = true;
  look_now();
  thread_.join();
  ::sem_destroy(&wake_);
}

void WatchThread::look() {
  Seen seen;
  try {
    seen = watch_.poll();
  } catch (const std::bad_alloc&) {
    seen.what = What::kFailed;
    seen.problem = "no memory";  // so short that it needs none
  }
  if (seen.what != What::kNothing) report_(seen);
}

void WatchThread::run() {
  for (; !ends_; look()) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto at =
        std::chrono::seconds(until.tv_sec) + std::chrono::nanoseconds(until.tv_nsec) + interval_;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at);
    until.tv_sec = seconds.count();
    until.tv_nsec = std::chrono::nanoseconds(at - seconds).count();
    while (::sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
    if (ends_) return;
  }
}

}  // namespace leveret::publish
