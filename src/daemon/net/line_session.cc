#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <chrono>
#include <cstring>
#include <string>

#include "daemon/line_protocol.h"
#include "daemon/net/sessions.h"

namespace leveret::daemon {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// Stands for a line that is longer than may be: as bad as that one.
constexpr std::string_view kTooLong = "line is too long\n";

}  // namespace

// Not in a namespace without a name: GCC warns of the frames of coroutines that hold such types.

/// The bytes that have come and are not answered yet.
class Incoming {
 public:
  explicit Incoming(std::size_t max_line) : max_line_(max_line) {}

  asio::mutable_buffer room() {
    if (buffer_.size() - filled_ < kPiece) buffer_.resize(filled_ + kPiece);
    return asio::buffer(buffer_.data() + filled_, kPiece);
  }
  void add(std::size_t bytes) {
    const void* const end = ::memrchr(buffer_.data() + filled_, '\n', bytes);
    filled_ += bytes;
    if (end == nullptr) return;
    whole_ = static_cast<std::size_t>(static_cast<const char*>(end) + 1 - buffer_.data());
  }
  bool empty() const { return filled_ == 0; }
  /// Bytes of memory.
  std::size_t capacity() const { return buffer_.capacity(); }

  /// Whole lines, from the front; empty: there is none yet.
  std::string_view lines() const { return {buffer_.data(), whole_}; }
  std::string_view all() const { return {buffer_.data(), filled_}; }
  /// These bytes at the front are answered.
  void remove(std::size_t bytes) {
    std::memmove(buffer_.data(), buffer_.data() + bytes, filled_ - bytes);
    filled_ -= bytes;
    whole_ -= std::min(whole_, bytes);
    if (filled_ < kPiece && buffer_.capacity() > BufferedBytes::kFree) {
      buffer_.resize(2 * kPiece);
      buffer_.shrink_to_fit();
    }
  }
  /// Whether a line without an end has got too long.
  bool is_too_long() const { return filled_ > max_line_; }

 private:
  static constexpr std::size_t kPiece = 64 << 10;

  const std::size_t max_line_;
  std::string buffer_;
  std::size_t filled_ = 0;
  std::size_t whole_ = 0;  ///< of these, the bytes of whole lines
};

template <class Stream>
class LineSession {
 public:
  LineSession(Stream stream, Loop& loop)
      : stream_(std::move(stream)),
        loop_(loop),
        open_(loop, [this] { end_input(); }),
        buffered_(loop.shared.buffers),
        protocol_(loop.worker, loop.shared.options.context_lines),
        incoming_(loop.shared.options.scorer.max_line) {}

  asio::awaitable<void> run() {
    while (!ended_) {
      set_time();
      const std::size_t bytes = co_await stream_.async_read_some(incoming_.room(), token());
      if (error_) break;
      incoming_.add(bytes);
      co_await take();
      if (!answers_.empty()) co_await write();
    }
    if (error_ == asio::error::eof) {
      co_await take_rest();
      co_await write();
      stream_.socket().shutdown(Stream::socket_type::shutdown_both, error_);
    } else if (error_ == boost::beast::error::timeout) {
      const bool idle = incoming_.empty() && answers_.empty() && !protocol_.in_request();
      idle ? counts().closed_idle.add() : counts().closed_slow.add();
    }
  }

 private:
  auto token() { return asio::redirect_error(asio::use_awaitable, error_); }
  const ServerOptions& options() const { return loop_.shared.options; }
  ThreadCounts& counts() { return loop_.worker.counts(); }

  /// Bytes that the system has got are still read; behind them is the end.
  void end_input() {
    boost::system::error_code ignored;
    stream_.socket().shutdown(Stream::socket_type::shutdown_receive, ignored);
  }

  /// A line that has begun has its time from then on, however it trickles in; a block that is open,
  /// for each of its lines.
  void set_time() {
    if (incoming_.empty() && !skipping_) {
      stream_.expires_after(protocol_.in_request() ? options().request_time : options().idle);
      begun_ = false;
    } else if (!begun_) {
      stream_.expires_after(options().request_time);
      begun_ = true;
    }
  }

  asio::awaitable<void> write() {
    stream_.expires_after(options().request_time);
    co_await asio::async_write(stream_, asio::buffer(answers_), token());
    if (!error_) answers_.clear();
    ended_ = ended_ || error_;
  }

  /// In pieces, between which others have their turn.
  asio::awaitable<void> answer(std::string_view lines) {
    const Clock::time_point deadline = Clock::now() + options().request_time;
    while (!lines.empty()) {
      protocol_.answer(protocol_.take_piece(lines), answers_);
      if (lines.empty()) break;
      if (Clock::now() >= deadline) co_return end_slow();
      co_await asio::post(stream_.get_executor(), asio::use_awaitable);
    }
  }
  void end_slow() {
    counts().closed_slow.add();
    ended_ = true;
  }

  asio::awaitable<void> take() {
    const Clock::time_point deadline = Clock::now() + options().request_time;
    const std::size_t at_most = 2 * std::size_t{options().scorer.max_line};
    if (!co_await buffered_.hold(incoming_.capacity(), at_most, deadline)) co_return end_slow();
    const std::string_view lines = incoming_.lines();
    if (!lines.empty()) {
      begun_ = false;  // what is left belongs to another line
      const std::size_t skipped = skipping_ ? lines.find('\n') + 1 : 0;
      skipping_ = false;
      co_await answer(lines.substr(skipped));
      if (ended_) co_return;
      incoming_.remove(lines.size());
      buffered_.let_go(incoming_.capacity());
    }
    if (skipping_) incoming_.remove(incoming_.all().size());
    if (!incoming_.is_too_long()) co_return;
    protocol_.answer(kTooLong, answers_);
    incoming_.remove(incoming_.all().size());
    skipping_ = true;
  }

  /// The last line may lack its end.
  asio::awaitable<void> take_rest() {
    if (!incoming_.empty() && !skipping_) co_await answer(incoming_.all());
    protocol_.end(answers_);
  }

  Stream stream_;
  Loop& loop_;
  OpenConnection open_;
  BufferedBytes buffered_;
  LineProtocol protocol_;
  Incoming incoming_;
  std::string answers_;
  boost::system::error_code error_;
  bool ended_ = false;
  bool skipping_ = false;  ///< the rest of a line that is too long
  bool begun_ = false;     ///< a line has begun, and its time is set
};

asio::awaitable<void> serve_lines(TcpStream stream, Loop& loop) {
  LineSession<TcpStream> session(std::move(stream), loop);
  co_await session.run();
}
asio::awaitable<void> serve_lines(LocalStream stream, Loop& loop) {
  LineSession<LocalStream> session(std::move(stream), loop);
  co_await session.run();
}

}  // namespace leveret::daemon
