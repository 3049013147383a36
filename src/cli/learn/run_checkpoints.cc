#include "cli/learn/run_checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "files/atomic_file.h"
#include "modelfile/model_io.h"

namespace leveret::cli {

using Clock = std::chrono::steady_clock;

bool RunCheckpoints::due() const {
  if (interval_.examples > 0) return since_ >= interval_.examples;
  return interval_.given() && Clock::now() - time_.load() >= interval_.time;
}

void RunCheckpoints::skip() {
  since_ = 0;
  time_ = Clock::now();
}

std::chrono::duration<double> RunCheckpoints::save(const model::Model& model,
                                                   const train::Notes& notes) {
  const Clock::time_point begin = Clock::now();
  wait();
  last_ = checkpoints_.next();
  auto file = std::make_shared<files::AtomicFile>(
      modelfile::begin_save(model, last_, train::to_bytes(notes)));
  // Those of another run are not to be gone back to from those of this one.
  const std::size_t keep = std::min(keep_, ++saved_);
  commit_ = std::async(std::launch::async,
                       [this, keep, file = std::move(file), broken = std::exchange(broken_, {})] {
                         file->commit();
                         for (const std::string& path : broken) ::unlink(path.c_str());
                         checkpoints_.keep(keep);
                       });
  skip();
  return Clock::now() - begin;
}

void RunCheckpoints::wait() {
  if (commit_.valid()) commit_.get();
}

void RunCheckpoints::end(std::size_t keep) {
  wait();
  checkpoints_.keep(keep);
}

}  // namespace leveret::cli
