/// The part of the C interface that follows files: a model's watch. Its other parts stand in
/// api/c_api.cc.
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/c_api.h"
#include "publish/watch.h"

using leveret::api::answer;
using leveret::api::need;
using leveret::api::put_text;
using leveret::publish::WatchThread;
using leveret::serve::BadArgument;
using leveret::serve::Seen;

namespace {

constexpr unsigned kEvery = 1000;  // milliseconds

/// A thread that looks, and what it has come to.
class ModelWatch {
 public:
  ModelWatch(std::shared_ptr<leveret::serve::Place> place, const char* path, unsigned interval_ms)
      : thread_(std::move(place), path, std::chrono::milliseconds(interval_ms),
                [this](const Seen& seen) { note(seen); }) {}

  std::uint64_t taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }
  std::string problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

 private:
  void note(const Seen& seen) {
    const std::lock_guard lock(mutex_);
    taken_ += seen.what == Seen::What::kSwapped;
    problem_ = seen.problem;
  }

  mutable std::mutex mutex_;
  std::uint64_t taken_ = 0;
  std::string problem_;
  WatchThread thread_;  // last: it uses all of the above
};

}  // namespace

int leveret_model_watch(leveret_model* model, const char* path, unsigned interval_ms) {
  return answer(LEVERET_FAILED, [&] {
    need(model, "model");
    if (path != nullptr && *path == '\0') throw BadArgument("path is empty; NULL ends a watch");
    const std::lock_guard lock(model->mutex);
    model->watch.reset();
    if (path == nullptr) return;
    model->watch =
        std::make_shared<ModelWatch>(model->place, path, interval_ms > 0 ? interval_ms : kEvery);
  });
}

int leveret_model_watched(const leveret_model* model, uint64_t* taken, char* problem, size_t size) {
  return answer(LEVERET_FAILED, [&] {
    need(model, "model");
    if (size > 0) need(problem, "problem");
    const std::lock_guard lock(model->mutex);
    const auto* const watch = static_cast<const ModelWatch*>(model->watch.get());
    if (watch == nullptr) throw BadArgument("the model is not watched");
    if (taken != nullptr) *taken = watch->taken();
    put_text(watch->problem(), problem, size);
  });
}
