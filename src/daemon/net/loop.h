/// A thread of the server, and how connections are kept in it.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>

#include "daemon/net/buffered_bytes.h"
#include "daemon/net/server.h"
#include "daemon/site.h"
#include "daemon/worker.h"

namespace leveret::daemon {

/// Objects that all threads know.
struct Shared {
  const ServerOptions& options;
  BufferLimit buffers;
  const Site* site = nullptr;
  std::atomic<bool> draining{false};
  std::atomic<std::size_t> connections{0};
};

struct Loop {
  Loop(const Models& models, Shared& for_all, std::size_t context_bytes)
      : shared(for_all), worker(models, for_all.options.scorer, context_bytes) {}

  Shared& shared;
  Worker worker;
  /// Actions of each open connection for when the server is to end: it ends when its requests are
  /// answered.
  std::list<std::function<void()>> enders;
  /// Last: connections that are left end with it, and use the rest.
  boost::asio::io_context context{1};
};

/// Counts a connection while it lives.
class OpenConnection {
 public:
  OpenConnection(Loop& loop, std::function<void()> ender) : loop_(loop) {
    loop_.enders.push_front(std::move(ender));
    at_ = loop_.enders.begin();
    loop_.worker.counts().connections_opened.add();
  }
  ~OpenConnection() {
    loop_.enders.erase(at_);
    loop_.worker.counts().connections_closed.add();
    --loop_.shared.connections;
  }
  OpenConnection(const OpenConnection&) = delete;
  OpenConnection& operator=(const OpenConnection&) = delete;

 private:
  Loop& loop_;
  std::list<std::function<void()>>::iterator at_;
};

}  // namespace leveret::daemon
