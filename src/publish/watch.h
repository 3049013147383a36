/// serve::Watch, and folders of `leveret publish`; and a thread that looks from time to time.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "publish/follower.h"
#include "serve/backoff.h"
#include "serve/watch.h"

namespace leveret::publish {

/// A folder of `leveret publish` is followed, a file watched as serve::Watch does. Which of them it
/// is is seen at each look: a folder may get its first manifest later. One thread.
class Watch {
 public:
  /// `place` outlives it. Opens nothing yet. The folder of `kMustFollow` is an error while it has
  /// no manifest, unless the place waits for its first model.
  enum class How { kAny, kMustFollow };
  Watch(serve::Place& place, std::string path, How how = How::kAny);

  /// Costs a stat or two where nothing has changed. A fault is told once; what is at fault is tried
  /// again when it changes, and after a while (serve::Backoff): a shortage passes, and the files of
  /// a followed folder may come after its manifest. Throws nothing but std::bad_alloc.
  serve::Seen poll();

 private:
  serve::Seen follow();
  serve::Seen take_way();
  bool is_too_early() const;

  serve::Place& place_;
  const std::string path_;
  const How how_;
  serve::Watch plain_;
  Follower follower_;
  serve::Backoff backoff_;
};

struct Newest {
  std::shared_ptr<serve::Place> place;
  std::uint64_t step = 0;
};
/// A place with the newest step of a folder, for whoever has no model yet. Throws as Follower::next
/// and serve::Place do.
Newest open_newest(const std::string& folder);

/// Looks before it is there, and then in a thread of its own: every `interval`, and when it is
/// asked to. The thread blocks all signals.
class WatchThread {
 public:
  /// Told of every look that has come to something: of the first by the constructor, of others by
  /// the thread.
  using Report = std::function<void(const serve::Seen&)>;

  /// std::runtime_error where there can be no thread. `report` does not throw.
  WatchThread(std::shared_ptr<serve::Place> place, std::string path,
              std::chrono::milliseconds interval, Report report, Watch::How how = Watch::How::kAny);
  /// Waits for the look that is under way, if one is.
  ~WatchThread();
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  /// Any thread; a signal handler may call it.
  void look_now() noexcept { ::sem_post(&wake_); }

 private:
  void look();
  void run();

  const std::shared_ptr<serve::Place> place_;
  const std::chrono::milliseconds interval_;
  const Report report_;
  Watch watch_;
  sem_t wake_;
  std::atomic<bool> ends_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace leveret::publish
