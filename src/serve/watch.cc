#include "serve/watch.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "store/model_file.h"

namespace leveret::serve {
namespace {

using What = Seen::What;

Seen failed(std::string problem) {
  Seen seen;
  seen.what = What::kFailed;
  seen.problem = std::move(problem);
  return seen;
}

}  // namespace

Seen take(Place& place, const std::string& path, const std::vector<std::string>& patches) {
  const auto begin = std::chrono::steady_clock::now();
  Seen seen;
  try {
    path.empty() ? place.patch(patches, "") : place.replace(path, patches);
    const std::shared_ptr<const Served> now = place.get();
    seen.what = What::kSwapped;
    seen.fingerprint = now->fingerprint();
    seen.sequence = now->sequence();
    seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return seen;
  } catch (const std::bad_alloc&) {
    return failed((path.empty() ? patches.front() : path) +
                  ": there is not enough memory for a second model");
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

Watch::Watch(Place& place, std::string path) : place_(place), path_(std::move(path)) {}

/// A write behind the stat is another state at the next look.
Seen Watch::poll() {
  const std::optional<files::FileState> state = files::state_of(path_);
  if (!state || state->is_folder) {
    state_.reset();
    if (std::exchange(was_missing_, true)) return {};
    return failed(path_ +
                  (state ? ": is a folder without a published model (leveret publish)"
                         : ": there is no such file or folder, or it cannot be opened") +
                  "; the model stays in use");
  }
  was_missing_ = false;
  if (state_ != state) {
    state_ = state;
    backoff_.succeeded();
  } else if (!backoff_.failing() || backoff_.waits()) {
    return {};
  }
  Seen seen = read_file();
  if (seen.what != What::kFailed) {
    backoff_.succeeded();
    return seen;
  }
  return backoff_.failed(seen.problem) ? seen : Seen();
}

Seen Watch::read_file() try {
  const store::ModelFile file = store::ModelFile::open(path_);
  if (file.fingerprint() == place_.get()->fingerprint()) return {};
  return take(place_, path_, {});
} catch (const std::exception& error) {
  return failed(error.what());
}

}  // namespace leveret::serve
