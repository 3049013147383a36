#include "cli/learn/run_checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace leveret::cli {

using Clock = std::chrono::steady_clock;

bool RunCheckpoints::due() const {
  if (interval_.examples > 0) return since_ >= interval_.examples;
  return interval_.given() && Clock::now() - time_.load() >= interval_.time;
}

void RunCheckpoints::go_on(const std::string& from, std::vector<std::string> broken) {
  last_there_ = from;
  if (checkpoints_.newest() <= checkpoints_.left()) checkpoints_.take_back();
  broken_ = std::move(broken);
  saved_ = keep_;
}

void RunCheckpoints::skip() {
  since_ = 0;
  time_ = Clock::now();
}

std::chrono::duration<double> RunCheckpoints::save(const model::Model& model,
                                                   const train::Notes& notes) {
  wait();
  last_ = checkpoints_.next();
  // Those of another run are not to be gone back to from those of this one.
  const std::size_t keep = std::min(keep_, ++saved_);
  const auto commit = [this, keep, path = last_,
                       broken = std::exchange(broken_, {})](files::AtomicFile& file) {
    file.commit();
    last_there_ = path;
    for (const std::string& path : broken) ::unlink(path.c_str());
    checkpoints_.keep(keep);
  };
  const auto seconds = save_.save(model, last_, notes, commit);
  skip();
  return seconds;
}

const std::string& RunCheckpoints::last_there() noexcept {
  try {
    wait();
  } catch (...) {
  }
  return last_there_;
}

void RunCheckpoints::end(std::size_t keep) {
  wait();
  checkpoints_.keep(keep);
}

}  // namespace leveret::cli
