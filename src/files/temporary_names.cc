#include "files/temporary_names.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace leveret::files {
namespace {

// A mutex cannot be asked by a signal handler.
std::atomic_flag busy = ATOMIC_FLAG_INIT;
// A step is a few system calls; one that takes longer hangs, and so would who waits for it.
constexpr int kTries = 3000;
constexpr long kPause = 1'000'000;  // nanoseconds

}  // namespace

struct TemporaryName::Node {
  std::string path;
  Node* next = nullptr;
  Node** place = nullptr;  ///< what points to it; null: it is not in the list

  static Node* first;  ///< guarded by `busy`
};

TemporaryName::Node* TemporaryName::Node::first = nullptr;

TemporaryStep::TemporaryStep() noexcept {
  sigset_t all;
  sigfillset(&all);
  // A handler on this thread would wait for what the thread is to give.
  pthread_sigmask(SIG_BLOCK, &all, &before_);
  while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
}

TemporaryStep::~TemporaryStep() {
  busy.clear(std::memory_order_release);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

TemporaryName::TemporaryName() noexcept = default;
TemporaryName::TemporaryName(std::string path) : node_(std::make_unique<Node>()) {
  node_->path = std::move(path);
}

TemporaryName::~TemporaryName() {
  if (node_ == nullptr || node_->place == nullptr) return;
  const TemporaryStep step;
  forget(step);
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept = default;

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  TemporaryName before(std::move(*this));
  node_ = std::move(other.node_);
  return *this;
}

const std::string& TemporaryName::path() const noexcept {
  static const std::string none;
  return node_ != nullptr ? node_->path : none;
}

void TemporaryName::list(const TemporaryStep&) noexcept {
  node_->next = Node::first;
  node_->place = &Node::first;
  if (node_->next != nullptr) node_->next->place = &node_->next;
  Node::first = node_.get();
}

void TemporaryName::forget(const TemporaryStep&) noexcept {
  if (node_ == nullptr) return;
  if (node_->place != nullptr) {
    *node_->place = node_->next;
    if (node_->next != nullptr) node_->next->place = node_->place;
  }
  node_.reset();
}

void remove_temporaries() noexcept {
  for (int tries = 0; busy.test_and_set(std::memory_order_acquire); ++tries) {
    if (tries == kTries) return;
    const timespec pause = {0, kPause};
    nanosleep(&pause, nullptr);
  }
  for (const TemporaryName::Node* node = TemporaryName::Node::first; node != nullptr;
       node = node->next) {
    ::unlink(node->path.c_str());
  }
}

}  // namespace leveret::files
