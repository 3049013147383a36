/// The server of `leveret serve`: sockets, threads, signals, and new versions of models.
///
/// Each thread has an event loop (Boost.Asio) and a Worker. A connection stays with one thread; it
/// reads a piece, answers it, writes the answer, and reads again: a client that does not read is
/// not read from, and memory for each is bounded. Nothing that comes over a socket is learned from,
/// written to a file, or given to another program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/models.h"
#include "daemon/scorer.h"

namespace leveret::daemon {

struct ServerOptions {
  std::string address = "127.0.0.1";        ///< of port and http
  std::optional<std::uint16_t> port, http;  ///< of lines, and of HTTP; 0: one that is free
  std::vector<std::string> hosts;           ///< names that requests to a loopback address may have
  std::string socket;                       ///< path of a Unix socket, of lines; empty: none
  bool context_lines = false;               ///< lines come in blocks
  unsigned threads = 1;
  std::size_t max_request = 16u << 20;  ///< bytes of a body of HTTP
  /// Bytes of requests that have come and are not answered, of all connections; those that have
  /// more to send wait. The first BufferedBytes::kFree of each do not count.
  std::size_t max_buffered = 256u << 20;
  std::size_t max_connections = 1000;       ///< others wait until one of these is closed
  std::size_t context_bytes = 64u << 20;    ///< for contexts that may return, of all threads
  std::chrono::milliseconds idle{300'000};  ///< a connection may wait for its next request
  /// A request may take to come, to be answered, and its answer to go: each of these.
  std::chrono::milliseconds request_time{10'000};
  std::chrono::milliseconds drain{10'000};    ///< connections have when the server ends
  std::chrono::milliseconds look_every{100};  ///< for new files
  ScorerOptions scorer;
  /// New versions of a model come from a file or folder: serve::Watch, publish::Watch.
  struct Source {
    std::size_t model;
    std::string path;
    bool must_follow = false;  ///< it is a folder of `leveret publish`
  };
  std::vector<Source> watched;
  std::string version;  ///< of the program
};

class Server {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` gets what happens, a sentence a time, from any thread; "warning: " stands before what
  /// somebody should look at. `models` outlives it.
  /// Sockets are open from here on; with socket activation (LISTEN_FDS), those that systemd has
  /// opened and no others. std::runtime_error names the address that cannot be had.
  Server(Models& models, ServerOptions options, Say say);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "127.0.0.1:26542 (lines)" and so on.
  const std::vector<std::string>& addresses() const;

  /// Serves until SIGTERM or SIGINT; then takes no connection more, answers what has come, and
  /// returns; at once where a second one comes. SIGHUP: looks for new versions now.
  void run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leveret::daemon
