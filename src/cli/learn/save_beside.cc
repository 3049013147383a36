#include "cli/learn/save_beside.h"

#include <memory>
#include <utility>

#include "modelfile/model_io.h"

namespace leveret::cli {

std::chrono::duration<double> SaveBeside::save(const model::Model& model, const std::string& path,
                                               const train::Notes& notes,
                                               std::function<void(files::AtomicFile&)> commit,
                                               std::function<void()> failed) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  wait();
  auto file = std::make_shared<files::AtomicFile>(
      modelfile::begin_save(model, path, train::to_bytes(notes)));
  commit_ = std::async(std::launch::async, [=, file = std::move(file)] {
    try {
      commit(*file);
    } catch (...) {
      if (failed) failed();
      throw;
    }
  });
  return Clock::now() - begin;
}

}  // namespace leveret::cli
