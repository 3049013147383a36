/// One connection: what it has sent, and what has come.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "answers.h"
#include "requests.h"

namespace leveret::load {

struct Sent {
  std::size_t request;
  std::chrono::steady_clock::time_point due;
};

/// One thread's, that of the context; it stays where it is.
class Connection {
 public:
  using Answered = std::function<void(const Sent&, const AnswerReader::Answer&)>;
  /// The connection may have room again, or has broken.
  using Changed = std::function<void(Connection&)>;

  Connection(boost::asio::io_context& context, Protocol protocol, std::size_t pipeline,
             const std::vector<Request>& requests, Answered answered, Changed changed)
      : socket_(context),
        reader_(protocol),
        pipeline_(pipeline),
        requests_(requests),
        answered_(std::move(answered)),
        changed_(std::move(changed)) {}

  /// Throws boost::system::system_error.
  void open(const boost::asio::generic::stream_protocol::endpoint& endpoint);
  bool is_broken() const { return is_broken_; }
  std::size_t waiting() const { return sent_.size(); }
  const std::string& problem() const { return problem_; }

  bool has_room() const {
    return !is_broken_ && !is_writing_ && filling_.size() < kPiece &&
           (pipeline_ == 0 || sent_.size() < pipeline_);
  }
  /// Has room. It goes with the next flush.
  void take(const Sent& sent);
  void flush();

  bool is_free = false;    ///< of Load: it is in the queue of those with room
  bool is_filled = false;  ///< the same: it is to be flushed

 private:
  static constexpr std::size_t kPiece = 64 << 10;

  void read();
  void take_answers();
  void break_off(const std::string& problem);

  boost::asio::generic::stream_protocol::socket socket_;
  AnswerReader reader_;
  const std::size_t pipeline_;
  const std::vector<Request>& requests_;
  const Answered answered_;
  const Changed changed_;
  std::deque<Sent> sent_;
  std::string filling_, writing_, incoming_;
  std::size_t filled_ = 0;
  bool is_writing_ = false, is_broken_ = false;
  std::string problem_;
};

}  // namespace leveret::load
