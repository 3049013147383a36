#include "load.h"

#include <fmt/format.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <deque>
#include <stdexcept>

#include "answers.h"
#include "connection.h"

namespace leveret::load {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

asio::generic::stream_protocol::endpoint endpoint_of(const std::string& address) {
  if (address.find('/') != std::string::npos) {
    return asio::local::stream_protocol::endpoint(address);
  }
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error(address + ": is no ADDRESS:PORT");
  return asio::ip::tcp::endpoint(asio::ip::make_address(address.substr(0, colon)),
                                 static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
}

class Load {
 public:
  Load(const LoadOptions& options, Protocol protocol, const std::vector<Request>& requests,
       Expected& expected)
      : options_(options),
        requests_(requests),
        expected_(expected),
        timer_(context_),
        signals_(context_, SIGTERM, SIGINT) {
    for (std::size_t i = 0; i < options.connections; ++i) {
      connections_.emplace_back(
          context_, protocol, options.pipeline, requests,
          [this](const Sent& sent, const AnswerReader::Answer& answer) { note(sent, answer); },
          [this](Connection& connection) { change(connection); });
    }
  }

  Figures run() {
    try {
      for (Connection& connection : connections_) connection.open(endpoint_of(options_.address));
    } catch (const boost::system::system_error& error) {
      throw std::runtime_error(options_.address + ": " + error.code().message());
    }
    start_ = Clock::now();
    counted_from_ = after(options_.warm_up);
    end_ = after(options_.seconds);
    for (Connection& connection : connections_) offer(connection);
    signals_.async_wait([this](error_code error, int) {
      if (error) return;
      end_ = Clock::now();
      timer_.cancel();  // it ticks once more
    });
    tick();
    context_.run();
    finish();
    return figures_;
  }

 private:
  Clock::time_point after(double seconds) const {
    return start_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  Clock::time_point due_time(std::uint64_t number) const {
    return after(static_cast<double>(number) / options_.rate);
  }

  /// Open: sends what is due, and sleeps until more is. Closed: looks for the end alone.
  void tick() {
    send_due();
    const Clock::time_point now = Clock::now();
    if (now >= end_) return wait_for_rest();
    Clock::time_point next = end_;
    if (options_.rate > 0) {
      next =
          std::min(end_, std::max(due_time(due_until(now)), now + std::chrono::microseconds(50)));
    }
    timer_.expires_at(next);
    timer_.async_wait([this](error_code) { tick(); });
  }

  /// The number of the first request that is not due.
  std::uint64_t due_until(Clock::time_point now) const {
    const std::chrono::duration<double> time = std::min(now, end_) - start_;
    return static_cast<std::uint64_t>(time.count() * options_.rate) + 1;
  }

  void send_due() {
    const Clock::time_point now = Clock::now();
    if (now >= end_ && options_.rate == 0) return;
    const std::uint64_t due = options_.rate > 0 ? due_until(now) : ~std::uint64_t{0};
    while (figures_.sent < due && !free_.empty()) {
      Connection& connection = *free_.front();
      free_.pop_front();
      connection.is_free = false;
      if (!connection.has_room()) continue;
      const Clock::time_point begin = options_.rate > 0 ? due_time(figures_.sent) : now;
      connection.take({figures_.sent % requests_.size(), begin});
      ++figures_.sent;
      if (!connection.is_filled) filled_.push_back(&connection);
      connection.is_filled = true;
      offer(connection);
    }
    for (Connection* const connection : filled_) {
      connection->is_filled = false;
      connection->flush();
    }
    filled_.clear();
  }

  void offer(Connection& connection) {
    if (connection.is_free || !connection.has_room()) return;
    connection.is_free = true;
    free_.push_back(&connection);
  }

  void change(Connection& connection) {
    if (connection.is_broken()) {
      ++figures_.errors;
      problem(connection.problem());
      if (++broken_ == connections_.size()) return context_.stop();
    } else {
      offer(connection);
    }
    if (!is_ended_) return send_due();
    if (waiting() == 0) context_.stop();
  }

  void note(const Sent& sent, const AnswerReader::Answer& answer) {
    const Clock::time_point now = Clock::now();
    ++figures_.answered;
    if (!answer.is_good) {
      ++figures_.errors;
      problem(std::string(answer.body));
    } else if (!expected_.is_empty() &&
               !expected_.is_right(answer.fingerprint, sent.request, answer.body)) {
      ++figures_.wrong;
      problem(fmt::format("request {}: {} says: {}", sent.request, answer.fingerprint,
                          answer.body.substr(0, 200)));
    }
    if (sent.due >= counted_from_) figures_.latency.add(now - sent.due);
    if (now < counted_from_ || now >= end_) return;
    ++figures_.counted;
    figures_.candidates += requests_[sent.request].candidates;
  }

  void problem(const std::string& what) {
    if (figures_.first_problem.empty()) figures_.first_problem = what;
  }

  std::size_t waiting() const {
    std::size_t waiting = 0;
    for (const Connection& connection : connections_) waiting += connection.waiting();
    return waiting;
  }

  void wait_for_rest() {
    is_ended_ = true;
    if (waiting() == 0) return context_.stop();
    timer_.expires_after(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.grace)));
    timer_.async_wait([this](error_code) { context_.stop(); });
  }

  void finish() {
    const Clock::time_point now = std::min(Clock::now(), end_);
    figures_.lost = waiting();
    figures_.seconds = std::chrono::duration<double>(now - counted_from_).count();
    figures_.versions = expected_.counts();
    if (options_.rate == 0) return;
    // Those that nobody had room for have waited, too.
    for (const std::uint64_t due = due_until(now); figures_.sent + figures_.unsent < due;
         ++figures_.unsent) {
      const Clock::time_point begin = due_time(figures_.sent + figures_.unsent);
      if (begin >= counted_from_) figures_.latency.add(now - begin);
    }
  }

  const LoadOptions& options_;
  const std::vector<Request>& requests_;
  Expected& expected_;
  asio::io_context context_{1};
  asio::steady_timer timer_;
  asio::signal_set signals_;
  std::deque<Connection> connections_;
  std::deque<Connection*> free_;  ///< with room, those that have had it longest in front
  std::vector<Connection*> filled_;
  std::size_t broken_ = 0;
  bool is_ended_ = false;
  Clock::time_point start_, counted_from_, end_;
  Figures figures_;
};

}  // namespace

Figures run_load(const LoadOptions& options, Protocol protocol,
                 const std::vector<Request>& requests, Expected& expected) {
  Load load(options, protocol, requests, expected);
  return load.run();
}

}  // namespace leveret::load
