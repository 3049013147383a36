#include "daemon/look_out.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "store/checksum.h"

namespace leveret::daemon {

LookOut::LookOut(Models& models, std::vector<Source> sources, std::chrono::milliseconds every,
                 Swapped swapped, Say say)
    : models_(models),
      sources_(std::move(sources)),
      every_(every),
      swapped_(std::move(swapped)),
      say_(std::move(say)),
      thread_([this] { run(); }) {}

LookOut::~LookOut() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LookOut::look_now() {
  {
    const std::lock_guard lock(mutex_);
    now_ = true;
  }
  wake_.notify_all();
}

void LookOut::run() {
  bool asked = false;
  while (true) {
    for (Source& source : sources_) {
      if (source.always || asked) look(source, asked);
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, every_, [this] { return now_ || ends_; });
    if (ends_) return;
    asked = std::exchange(now_, false);
  }
}

serve::Seen LookOut::poll(Source& source, bool anew) {
  try {
    if (anew || !source.watch) {
      source.watch.emplace(*models_[source.model].place, source.path, source.how);
    }
    return source.watch->poll();
  } catch (const std::exception& error) {
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    serve::Seen seen;
    seen.what = serve::Seen::What::kFailed;
    seen.problem = is_memory ? source.path + ": there is not enough memory to read it"
                             : std::string(error.what());
    return seen;
  }
}

void LookOut::look(Source& source, bool anew) {
  const NamedModel& model = models_[source.model];
  const serve::Seen seen = poll(source, anew);
  if (seen.what == serve::Seen::What::kNothing) return;
  Swap swap;
  swap.time = std::chrono::system_clock::now();
  swap.model = model.name;
  swap.done = seen.what == serve::Seen::What::kSwapped;
  swap.seconds = seen.seconds;
  swap.step = seen.step;
  swap.what = swap.done ? store::to_hex(seen.fingerprint) : seen.problem;
  if (swap.done) {
    swapped_(source.model);
    const std::string step = swap.step > 0 ? fmt::format("step {}, ", swap.step) : "";
    say_(fmt::format("{}: serves {} now, {}read in {:.3f} s", model.name, swap.what, step,
                     swap.seconds));
    if (!seen.problem.empty()) say_(fmt::format("warning: {}: {}", model.name, seen.problem));
  } else {
    const bool waits = model.place->get()->is_nothing();
    say_(fmt::format("warning: {}: {}: {}", model.name,
                     waits ? "still waits" : "still serves the model before", seen.problem));
  }
  models_.note(std::move(swap));
}

}  // namespace leveret::daemon
