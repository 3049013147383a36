#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http_work.h"
#include "daemon/net/http_head.h"
#include "daemon/net/sessions.h"

namespace leveret::daemon {

/// Whether the connection is kept, as the client is told.
enum class Keep { kYes, kNo, kAsked };  // asked: by HTTP/1.0, whose clients wait to hear of it

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using Parser = http::request_parser<http::string_body>;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMaxHeader = 16 << 10;
/// Bytes that are read at a time.
constexpr std::size_t kRead = 64 << 10;

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

HttpRequest take_request(http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = text_of(message.method_string());
  request.target = path_of(message);
  request.type = text_of(message[http::field::content_type]);
  request.encoding = text_of(message[http::field::content_encoding]);
  request.body = std::move(message.body());
  return request;
}

/// Answers to requests that cannot be read.
HttpAnswer refusal(unsigned status, const std::string& why) {
  HttpAnswer answer;
  answer.status = status;
  answer.type = "application/json";
  answer.body = "{\"error\":" + json_string(why) + "}\n";
  return answer;
}

http::response<http::string_body> message_of(HttpAnswer answer, Keep keep) {
  constexpr unsigned kHttp11 = 11;
  const auto status = static_cast<http::status>(answer.status);
  http::response<http::string_body> message(status, kHttp11, std::move(answer.body));
  message.set(http::field::server, "leveret");
  message.set(http::field::content_type, answer.type);
  for (const auto& [name, value] : answer.headers) message.set(name, value);
  if (keep != Keep::kYes) {
    message.set(http::field::connection, keep == Keep::kNo ? "close" : "keep-alive");
  }
  message.content_length(message.body().size());
  return message;
}

}  // namespace

// Not in a namespace without a name: GCC warns of the frames of coroutines that hold such types.
class HttpSession {
 public:
  HttpSession(TcpStream stream, Loop& loop)
      : stream_(std::move(stream)),
        loop_(loop),
        open_(loop, [this] { end_input(); }),
        buffered_(loop.shared.buffers) {}

  asio::awaitable<void> run() {
    while (!ended_) {
      in_request_ = false;
      if (loop_.shared.draining && lacks_start()) break;
      parser_.emplace();
      parser_->header_limit(kMaxHeader);
      parser_->body_limit(loop_.shared.options.max_request);
      co_await read();
      if (!ended_) co_await answer();
    }
    co_await close();
  }

 private:
  auto token() { return asio::redirect_error(asio::use_awaitable, error_); }
  const ServerOptions& options() const { return loop_.shared.options; }

  /// One that waits is told by the end of its input, one that is at work by its answer.
  void end_input() {
    boost::system::error_code ignored;
    if (!in_request_) stream_.socket().shutdown(TcpStream::socket_type::shutdown_receive, ignored);
  }

  /// Whether it came to an address that only this machine reaches.
  bool is_own() {
    boost::system::error_code ignored;
    const asio::ip::address address = stream_.socket().local_endpoint(ignored).address();
    // A socket for both versions of IP sees 127.0.0.1 so.
    const bool is_mapped = address.is_v6() && address.to_v6().is_v4_mapped();
    return is_mapped ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback()
                     : address.is_loopback();
  }

  /// Whether more is to be read before a request begins: behind line ends, which some clients send
  /// after a body (RFC 9112, 2.2).
  bool lacks_start() {
    const auto* const data = static_cast<const char*>(buffer_.data().data());
    const std::string_view text(data, buffer_.size());
    const std::size_t start = std::min(text.find_first_not_of("\r\n"), text.size());
    buffer_.consume(start);
    return buffer_.size() == 0;
  }

  asio::awaitable<void> read() {
    while (lacks_start()) {
      stream_.expires_after(options().idle);
      buffer_.reserve(kRead);
      buffer_.commit(co_await stream_.async_read_some(buffer_.prepare(kRead), token()));
      if (error_ == asio::error::eof) error_ = http::error::end_of_stream;
      if (error_) co_return co_await fail();
    }
    stream_.expires_after(options().request_time);
    co_await http::async_read_header(stream_, buffer_, *parser_, token());
    if (error_) co_return co_await fail();
    in_request_ = true;
    stream_.expires_after(options().request_time);
    if (const auto fault = fault_of(parser_->get(), is_own(), options().hosts)) {
      ended_ = unread_ = true;
      co_return co_await write(refusal(fault->status, fault->why), Keep::kNo);
    }
    if (parser_->get().version() >= 11 && parser_->get().count(http::field::expect) > 0) {
      http::response<http::empty_body> go_on(http::status::continue_, 11);
      co_await http::async_write(stream_, go_on, token());
      if (error_) co_return co_await fail();
    }
    co_await read_body();
  }

  asio::awaitable<void> read_body() {
    const Clock::time_point deadline = Clock::now() + options().request_time;
    const auto length = parser_->content_length();
    const std::size_t at_most = length ? std::size_t{*length} : options().max_request;
    while (!parser_->is_done()) {
      co_await http::async_read_some(stream_, buffer_, *parser_, token());
      if (error_) co_return co_await fail();
      if (co_await buffered_.hold(parser_->get().body().size(), at_most, deadline)) continue;
      ended_ = unread_ = true;
      loop_.worker.counts().closed_slow.add();
      co_return co_await write(refusal(503, "requests hold as much as --max_buffered allows"),
                               Keep::kNo);
    }
  }

  /// The connection ends, with an answer where one can be given.
  asio::awaitable<void> fail() {
    const boost::system::error_code error = error_;
    ended_ = unread_ = true;
    if (error == beast::error::timeout) {
      const bool idle = !in_request_ && buffer_.size() == 0;
      ThreadCounts& counts = loop_.worker.counts();
      (idle ? counts.closed_idle : counts.closed_slow).add();
    } else if (error == http::error::body_limit) {
      co_await write(refusal(413, "the body is larger than --max_request"), Keep::kNo);
    } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      co_await write(refusal(431, "the header, or that of a chunk, is larger than 16 KiB"),
                     Keep::kNo);
    } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
               error.category() == http::make_error_code(http::error::bad_method).category()) {
      co_await write(refusal(400, "is no request of HTTP/1.1: " + error.message()), Keep::kNo);
    }
  }

  /// The rest of what a client sends is read for a while: else the system would tell it of an
  /// error, in place of the answer.
  asio::awaitable<void> close() {
    boost::system::error_code ignored;
    stream_.socket().shutdown(TcpStream::socket_type::shutdown_send, ignored);
    std::array<char, 4096> bytes;
    stream_.expires_after(std::chrono::seconds(2));
    for (int i = 0; unread_ && i < 16384 && !error_; ++i) {
      co_await stream_.async_read_some(asio::buffer(bytes), token());
    }
  }

  asio::awaitable<void> answer() {
    const Clock::time_point start = Clock::now();
    http::request<http::string_body> message = parser_->release();
    const bool keep = message.keep_alive();
    const Keep kept = message.version() >= 11 ? Keep::kYes : Keep::kAsked;
    const bool head = message.method() == http::verb::head;
    HttpWork work(loop_.worker, *loop_.shared.site, take_request(message), loop_.shared.draining);
    while (work.go_on()) {
      if (Clock::now() - start > options().request_time) work.give_up();
      co_await asio::post(stream_.get_executor(), asio::use_awaitable);
    }
    if (ModelCounts* const counts = work.counts()) counts->latencies.add(Clock::now() - start);
    co_await write(std::move(work.answer()), keep && !loop_.shared.draining ? kept : Keep::kNo,
                   head);
    buffered_.let_go(0);
  }

  asio::awaitable<void> write(HttpAnswer answer, Keep keep, bool head = false) {
    ThreadCounts& counts = loop_.worker.counts();
    (answer.status < 400   ? counts.http_ok
     : answer.status < 500 ? counts.http_refused
                           : counts.http_failed)
        .add();
    stream_.expires_after(options().request_time);
    const auto message = message_of(std::move(answer), keep);
    http::response_serializer<http::string_body> serializer(message);
    if (head) {
      co_await http::async_write_header(stream_, serializer, token());
    } else {
      co_await http::async_write(stream_, serializer, token());
    }
    if (error_ == beast::error::timeout) counts.closed_slow.add();
    ended_ = keep == Keep::kNo || error_;
  }

  TcpStream stream_;
  Loop& loop_;
  OpenConnection open_;
  BufferedBytes buffered_;
  beast::flat_buffer buffer_{2 * kRead};  ///< nothing of a request may take more at a time
  std::optional<Parser> parser_;
  boost::system::error_code error_;
  bool in_request_ = false, ended_ = false;
  bool unread_ = false;  ///< the client may still send what nobody wants
};

asio::awaitable<void> serve_http(TcpStream stream, Loop& loop) {
  HttpSession session(std::move(stream), loop);
  co_await session.run();
}

}  // namespace leveret::daemon
