#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <cstring>
#include <string>

#include "daemon/line_protocol.h"
#include "daemon/net/sessions.h"

namespace leveret::daemon {
namespace {

namespace asio = boost::asio;

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
  void add(std::size_t bytes) { filled_ += bytes; }
  bool empty() const { return filled_ == 0; }

  /// Whole lines, from the front; empty: there is none yet.
  std::string_view lines() const {
    const void* const end = ::memrchr(buffer_.data(), '\n', filled_);
    if (end == nullptr) return {};
    return {buffer_.data(), static_cast<const char*>(end) + 1};
  }
  std::string_view all() const { return {buffer_.data(), filled_}; }
  /// These bytes at the front are answered.
  void remove(std::size_t bytes) {
    std::memmove(buffer_.data(), buffer_.data() + bytes, filled_ - bytes);
    filled_ -= bytes;
    if (filled_ < kPiece && buffer_.size() > 4 * kPiece) {
      buffer_.resize(2 * kPiece);
      buffer_.shrink_to_fit();
    }
  }
  /// Of a line without an end.
  bool is_too_long() const { return filled_ > max_line_; }

 private:
  static constexpr std::size_t kPiece = 64 << 10;

  const std::size_t max_line_;
  std::string buffer_;
  std::size_t filled_ = 0;
};

template <class Stream>
class LineSession {
 public:
  LineSession(Stream stream, Loop& loop)
      : stream_(std::move(stream)),
        loop_(loop),
        open_(loop, [this] { end_input(); }),
        protocol_(loop.worker, loop.shared.options.context_lines),
        incoming_(loop.shared.options.scorer.max_line) {}

  asio::awaitable<void> run() {
    boost::system::error_code error;
    const auto token = [&] { return asio::redirect_error(asio::use_awaitable, error); };
    while (true) {
      set_time();
      const std::size_t bytes = co_await stream_.async_read_some(incoming_.room(), token());
      if (error) break;
      incoming_.add(bytes);
      take();
      if (answers_.empty()) continue;
      stream_.expires_after(options().request_time);
      co_await asio::async_write(stream_, asio::buffer(answers_), token());
      if (error) break;
      answers_.clear();
    }
    if (error == boost::beast::error::timeout) {
      ThreadCounts& counts = loop_.worker.counts();
      const bool idle = incoming_.empty() && answers_.empty() && !protocol_.in_request();
      (idle ? counts.closed_idle : counts.closed_slow).add();
      co_return;
    }
    if (error != asio::error::eof) co_return;
    take_rest();
    stream_.expires_after(options().request_time);
    co_await asio::async_write(stream_, asio::buffer(answers_), token());
    stream_.socket().shutdown(Stream::socket_type::shutdown_both, error);
  }

 private:
  const ServerOptions& options() const { return loop_.shared.options; }

  /// What the system has got is still read; behind it is the end.
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

  void take() {
    const std::string_view lines = incoming_.lines();
    if (!lines.empty()) {
      begun_ = false;  // what is left belongs to another line
      const std::size_t skipped = skipping_ ? lines.find('\n') + 1 : 0;
      skipping_ = false;
      protocol_.answer(lines.substr(skipped), answers_);
      incoming_.remove(lines.size());
    }
    if (skipping_) incoming_.remove(incoming_.all().size());
    if (!incoming_.is_too_long()) return;
    protocol_.answer(kTooLong, answers_);
    incoming_.remove(incoming_.all().size());
    skipping_ = true;
  }

  /// The last line may lack its end.
  void take_rest() {
    if (!incoming_.empty() && !skipping_) protocol_.answer(incoming_.all(), answers_);
    protocol_.end(answers_);
  }

  Stream stream_;
  Loop& loop_;
  OpenConnection open_;
  LineProtocol protocol_;
  Incoming incoming_;
  std::string answers_;
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
