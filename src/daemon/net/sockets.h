/// Sockets that wait for connections: opened here, or handed over by systemd.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/net/server.h"

namespace leveret::daemon {

/// Closed, and a Unix socket's file removed where it is still the one that we have made, by its
/// end.
class Listening {
 public:
  enum class Protocol { kLines, kHttp };
  using Tcp = boost::asio::ip::tcp::acceptor;
  using Local = boost::asio::local::stream_protocol::acceptor;
  /// A socket's file, by device and inode; none: there is none.
  using File = std::optional<std::pair<dev_t, ino_t>>;

  Listening(Tcp acceptor, Protocol protocol)
      : acceptor_(std::move(acceptor)), protocol_(protocol) {}
  /// `made`: the path of the file that the acceptor has made, and is to remove; empty: none.
  Listening(Local acceptor, std::string made);
  Listening(Listening&& other) noexcept
      : acceptor_(std::move(other.acceptor_)),
        protocol_(other.protocol_),
        made_(std::exchange(other.made_, {})),
        file_(other.file_) {}
  ~Listening();

  std::variant<Tcp, Local>& acceptor() { return acceptor_; }
  Protocol protocol() const { return protocol_; }
  /// "127.0.0.1:26542 (lines)".
  std::string name() const;
  void close();

 private:
  std::variant<Tcp, Local> acceptor_;
  Protocol protocol_;
  std::string made_;
  File file_;  ///< of made_: another may have its name by now
};

/// Those that the options ask for; with LISTEN_FDS (sd_listen_fds(3)) those that were handed over
/// in their place: HTTP by the name "http" (FileDescriptorName=), lines by any other.
/// std::runtime_error names the address that cannot be had.
std::vector<Listening> open_sockets(boost::asio::io_context& context, const ServerOptions& options);

/// Tells the service manager (sd_notify(3)) where there is one: "READY=1". What goes wrong is
/// nobody's concern.
void notify(const std::string& state);

}  // namespace leveret::daemon
