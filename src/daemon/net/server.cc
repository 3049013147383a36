#include "daemon/net/server.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <deque>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "daemon/look_out.h"
#include "daemon/net/loop.h"
#include "daemon/net/sessions.h"
#include "daemon/net/sockets.h"

namespace leveret::daemon {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using std::chrono::milliseconds;
using WorkGuard = asio::executor_work_guard<Executor>;

/// A connection's end is its own, whatever it died of: others go on.
void forget(const std::exception_ptr&) {}

}  // namespace

class Server::Impl {
 public:
  Impl(Models& models, ServerOptions options, Say say)
      : models_(models), options_(std::move(options)), say_(std::move(say)) {
    for (unsigned i = 0; i < options_.threads; ++i) {
      loops_.push_back(
          std::make_unique<Loop>(models_, shared_, options_.context_bytes / options_.threads));
    }
    std::vector<const Worker*> workers;
    for (const auto& loop : loops_) workers.push_back(&loop->worker);
    site_.emplace(models_, std::move(workers), options_.version);
    shared_.site = &*site_;
    sockets_ = open_sockets(loops_[0]->context, options_);
    for (const Listening& socket : sockets_) addresses_.push_back(socket.name());
    // From here on: who has read where the server listens may send one before it runs.
    signals_.emplace(loops_[0]->context, SIGTERM, SIGINT, SIGHUP);
  }

  /// The first loop goes first: who waits for connections there has sockets of the others.
  ~Impl() {
    sockets_.clear();
    signals_.reset();
    for (std::unique_ptr<Loop>& loop : loops_) loop.reset();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::vector<std::string>& addresses() const { return addresses_; }

  void run() {
    start(listen_to_signals());
    start(note_intervals());
    for (Listening& socket : sockets_) start(take_connections(socket));
    LookOut look_out(
        models_, sources(), options_.look_every, [this](std::size_t) { drop_old(); }, say_);
    look_out_ = &look_out;
    notify("READY=1");
    run_loops();
  }

 private:
  Executor executor() { return loops_[0]->context.get_executor(); }

  void start(awaitable<void> work) {
    asio::co_spawn(executor(), std::move(work), [this](const std::exception_ptr& error) {
      // An error that stops these would leave a server that does nothing.
      if (!error) return;
      error_ = error;
      stop();
    });
  }

  /// All models' own files are looked at by SIGHUP, too.
  std::vector<LookOut::Source> sources() {
    std::vector<LookOut::Source> sources;
    std::vector<bool> watched(models_.size());
    for (const ServerOptions::Source& source : options_.watched) {
      watched[source.model] = true;
      using How = publish::Watch::How;
      sources.push_back(
          {source.model, source.path, source.must_follow ? How::kMustFollow : How::kAny, true});
    }
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (watched[i]) continue;
      sources.push_back({i, models_[i].path, publish::Watch::How::kAny, false});
    }
    return sources;
  }

  /// Each thread lets go of the versions that are replaced, whether or not it is asked anything.
  void drop_old() {
    for (const auto& loop : loops_) {
      asio::post(loop->context, [&worker = loop->worker] { worker.drop_old(); });
    }
  }

  /// An error that a connection throws outside of its own code, as where there is no memory, ends
  /// that connection.
  void run_loop(Loop& loop) {
    while (true) {
      try {
        loop.context.run();
        return;
      } catch (const std::exception& error) {
        say_(std::string("warning: a connection failed: ") + error.what());
      }
    }
  }

  void run_loops() {
    std::deque<WorkGuard> guards;
    for (const auto& loop : loops_) guards.emplace_back(asio::make_work_guard(loop->context));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < loops_.size(); ++i) {
      threads.emplace_back([this, i] { run_loop(*loops_[i]); });
    }
    run_loop(*loops_[0]);
    for (std::thread& thread : threads) thread.join();
    // Connections that are left end here, with the contexts that they wait in.
    if (error_) std::rethrow_exception(error_);
  }

  void stop() {
    for (const auto& loop : loops_) loop->context.stop();
  }

  awaitable<void> wait(milliseconds time) {
    asio::steady_timer timer(executor(), time);
    co_await timer.async_wait(use_awaitable);
  }

  awaitable<void> listen_to_signals() {
    while (true) {
      const int signal = co_await signals_->async_wait(use_awaitable);
      if (signal == SIGHUP) {
        look_out_->look_now();
        continue;
      }
      if (shared_.draining.exchange(true)) break;
      start(drain());
    }
    say_("warning: ended at once by a second signal");
    stop();
  }

  /// No connection is taken any more; those that are there end when they have their answers.
  awaitable<void> drain() {
    notify("STOPPING=1");
    for (Listening& socket : sockets_) socket.close();
    for (const auto& loop : loops_) {
      asio::post(loop->context, [&enders = loop->enders] {
        for (const auto& end : enders) end();
      });
    }
    const auto start = std::chrono::steady_clock::now();
    while (shared_.connections > 0 && std::chrono::steady_clock::now() - start < options_.drain) {
      co_await wait(milliseconds(10));
    }
    if (const std::size_t left = shared_.connections; left > 0) {
      say_("warning: " + std::to_string(left) + " connections did not end in time");
    }
    stop();
  }

  awaitable<void> note_intervals() {
    while (true) {
      co_await wait(Site::kInterval);
      site_->note_interval();
    }
  }

  awaitable<void> take_connections(Listening& socket) {
    if (auto* const tcp = std::get_if<Listening::Tcp>(&socket.acceptor())) {
      const bool lines = socket.protocol() == Listening::Protocol::kLines;
      return take<TcpStream>(*tcp, [lines](TcpStream stream, Loop& loop) {
        boost::system::error_code ignored;
        stream.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
        return lines ? serve_lines(std::move(stream), loop) : serve_http(std::move(stream), loop);
      });
    }
    return take<LocalStream>(
        std::get<Listening::Local>(socket.acceptor()),
        [](LocalStream stream, Loop& loop) { return serve_lines(std::move(stream), loop); });
  }

  /// The threads have connections in turn.
  template <class Stream, class Acceptor, class Serve>
  awaitable<void> take(Acceptor& acceptor, Serve serve) {
    boost::system::error_code error;
    while (!shared_.draining) {
      // The system keeps some that wait, and lets others try again.
      while (shared_.connections >= options_.max_connections) co_await wait(milliseconds(5));
      Loop& loop = *loops_[next_loop_++ % loops_.size()];
      auto connection =
          co_await acceptor.async_accept(loop.context, asio::redirect_error(use_awaitable, error));
      if (error == asio::error::operation_aborted || shared_.draining) break;
      if (error) {  // of files, as a rule: there are too many
        co_await wait(milliseconds(100));
        continue;
      }
      ++shared_.connections;
      asio::co_spawn(loop.context, serve(Stream(std::move(connection)), loop), forget);
    }
  }

  Models& models_;
  const ServerOptions options_;
  const Say say_;
  // One request has room, whatever the others hold.
  Shared shared_{options_, BufferLimit(std::max({options_.max_buffered, options_.max_request,
                                                 2 * std::size_t{options_.scorer.max_line}}))};
  std::vector<std::unique_ptr<Loop>> loops_;
  std::optional<Site> site_;
  std::vector<Listening> sockets_;
  std::vector<std::string> addresses_;
  std::optional<asio::signal_set> signals_;
  LookOut* look_out_ = nullptr;
  std::size_t next_loop_ = 0;
  std::exception_ptr error_;
};

Server::Server(Models& models, ServerOptions options, Say say)
    : impl_(std::make_unique<Impl>(models, std::move(options), std::move(say))) {}
Server::~Server() = default;
const std::vector<std::string>& Server::addresses() const { return impl_->addresses(); }
void Server::run() { impl_->run(); }

}  // namespace leveret::daemon
