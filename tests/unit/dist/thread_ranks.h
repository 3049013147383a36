/// Ranks as threads of one process: what MPI does between processes, for tests, which can then look
/// at all of them, and run under ThreadSanitizer.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "dist/talk/communicator.h"

namespace leveret::dist {

/// What waits between the ranks.
class ThreadMail {
 public:
  void send(unsigned from, unsigned to, std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      waiting_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    }
    changed_.notify_all();
  }

  void receive(unsigned from, unsigned to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    Messages& mail = waiting_[{from, to}];
    changed_.wait(lock, [&] { return !mail.empty() || ended_; });
    if (mail.empty()) throw std::runtime_error("another rank has ended the run");
    if (mail.front().size() != bytes.size()) {
      throw std::logic_error("two ranks disagree about the length of a message");
    }
    std::ranges::copy(mail.front(), bytes.begin());
    mail.pop_front();
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

  bool all_received() {
    const std::lock_guard lock(mutex_);
    for (const auto& [ranks, mail] : waiting_) {
      if (!mail.empty()) return false;
    }
    return true;
  }

 private:
  using Messages = std::deque<std::vector<std::byte>>;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<unsigned, unsigned>, Messages> waiting_;  ///< by (from, to)
  bool ended_ = false;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadMail& mail, unsigned rank, unsigned size)
      : Communicator(rank, size), mail_(mail) {}
  void end_all(int) noexcept override { mail_.end(); }

 private:
  void do_send(unsigned to, std::span<const std::byte> bytes) override {
    mail_.send(rank(), to, bytes);
  }
  void do_receive(unsigned from, std::span<std::byte> bytes) override {
    mail_.receive(from, rank(), bytes);
  }
  void do_exchange(unsigned with, std::span<const std::byte> out,
                   std::span<std::byte> in) override {
    do_send(with, out);
    do_receive(with, in);
  }

  ThreadMail& mail_;
};

/// Runs `work` as each of `size` ranks and returns when all have ended. One that throws ends the
/// others as soon as they wait; its error is rethrown, and a message nobody received is one.
/// Catch's macros are for the thread that calls this: ranks note what is to be checked.
inline void run_ranks(unsigned size, const std::function<void(Communicator&)>& work) {
  ThreadMail mail;
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCommunicator communicator(mail, rank, size);
      try {
        work(communicator);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        mail.end();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  if (!mail.all_received()) throw std::logic_error("a message was sent that nobody received");
}

}  // namespace leveret::dist
