/// The thread that looks for new versions of models.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/models.h"
#include "publish/watch.h"

namespace leveret::daemon {

/// One thread for all models, so that they are read one after the other.
class LookOut {
 public:
  struct Source {
    std::size_t model;
    std::string path;
    publish::Watch::How how = publish::Watch::How::kAny;
    bool always = true;  ///< false: when it is asked to alone
    /// Made at the first look, and anew when somebody asks: what has failed is tried again.
    std::optional<publish::Watch> watch = {};
  };
  /// In the thread: a model has another version. It does not throw.
  using Swapped = std::function<void(std::size_t model)>;
  using Say = std::function<void(const std::string&)>;

  LookOut(Models& models, std::vector<Source> sources, std::chrono::milliseconds every,
          Swapped swapped, Say say);
  /// Waits for the look that is under way, if one is.
  ~LookOut();
  LookOut(const LookOut&) = delete;
  LookOut& operator=(const LookOut&) = delete;

  /// Any thread.
  void look_now();

 private:
  void run();
  serve::Seen poll(Source& source, bool anew);
  void look(Source& source, bool anew);

  Models& models_;
  std::vector<Source> sources_;
  const std::chrono::milliseconds every_;
  const Swapped swapped_;
  const Say say_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  bool now_ = false, ends_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace leveret::daemon
