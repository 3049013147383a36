#include "daemon/net/sockets.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace leveret::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;

[[noreturn]] void cannot_listen(const std::string& where, const std::string& why,
                                const char* advice) {
  throw std::runtime_error(fmt::format("cannot listen on {}: {}; {}", where, why, advice));
}

asio::ip::address address_of(const std::string& text) {
  if (text == "localhost") return asio::ip::address_v4::loopback();
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error) throw std::runtime_error(text + ": is no address; give one in numbers, as 127.0.0.1");
  return address;
}

Listening listen_tcp(asio::io_context& context, const std::string& address, std::uint16_t port,
                     Listening::Protocol protocol) {
  const tcp::endpoint endpoint(address_of(address), port);
  try {
    tcp::acceptor acceptor(context);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    return {std::move(acceptor), protocol};
  } catch (const boost::system::system_error& error) {
    cannot_listen(fmt::format("{}:{}", address, port), error.code().message(),
                  "give another port (0: any that is free)");
  }
}

Listening::File socket_file(const std::string& path) {
  struct stat status {};
  const bool is_one = ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
  return is_one ? Listening::File({status.st_dev, status.st_ino}) : std::nullopt;
}

/// A socket that a server has left behind is in the way of the next one.
void remove_left_socket(asio::io_context& context, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    cannot_listen(path, "there is a file of that name, and it is no socket", "name another");
  }
  Local::socket socket(context);
  boost::system::error_code error;
  socket.connect(Local::endpoint(path), error);
  if (!error) cannot_listen(path, "another server uses it", "end that one, or name another");
  if (error == asio::error::connection_refused) ::unlink(path.c_str());  // nobody listens
}

Listening listen_local(asio::io_context& context, const std::string& path) {
  if (path.size() > 107) cannot_listen(path, "the path is longer than 107 bytes", "name another");
  remove_left_socket(context, path);
  try {
    return {Local::acceptor(context, Local::endpoint(path)), path};
  } catch (const boost::system::system_error& error) {
    cannot_listen(path, error.code().message(), "name a path in a folder that may be written to");
  }
}

int number_in(const char* variable) {
  const char* const text = ::getenv(variable);
  int number = 0;
  if (text != nullptr) {
    const std::string_view view = text;
    std::from_chars(view.data(), view.data() + view.size(), number);
  }
  return number;
}

std::vector<std::string> names_of_sockets() {
  std::vector<std::string> names;
  const char* const list = ::getenv("LISTEN_FDNAMES");
  std::string_view rest = list != nullptr ? list : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

/// sd_listen_fds(3): descriptors from 3 on.
std::vector<Listening> handed_over(asio::io_context& context) {
  std::vector<Listening> sockets;
  if (number_in("LISTEN_PID") != ::getpid()) return sockets;
  const std::vector<std::string> names = names_of_sockets();
  const int count = number_in("LISTEN_FDS");
  for (int i = 0; i < count; ++i) {
    const int fd = 3 + i;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error(
          fmt::format("LISTEN_FDS: descriptor {} is no socket; see systemd.socket(5)", fd));
    }
    const std::string name = static_cast<std::size_t>(i) < names.size() ? names[i] : "";
    const auto protocol = name == "http" ? Listening::Protocol::kHttp : Listening::Protocol::kLines;
    if (address.ss_family == AF_UNIX) {
      sockets.emplace_back(Listening::Local(context, Local(), fd), std::string());
    } else {
      const tcp version = address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
      sockets.emplace_back(Listening::Tcp(context, version, fd), protocol);
    }
  }
  return sockets;
}

}  // namespace

Listening::Listening(Local acceptor, std::string made)
    : acceptor_(std::move(acceptor)),
      protocol_(Protocol::kLines),
      made_(std::move(made)),
      file_(made_.empty() ? std::nullopt : socket_file(made_)) {}

Listening::~Listening() { close(); }

/// The file goes first: while the acceptor has its inode no other file gets that number.
void Listening::close() {
  const std::string path = std::exchange(made_, {});
  if (!path.empty() && file_ && socket_file(path) == file_) ::unlink(path.c_str());
  boost::system::error_code ignored;
  std::visit([&](auto& acceptor) { acceptor.close(ignored); }, acceptor_);
}

std::string Listening::name() const {
  const char* const protocol = protocol_ == Protocol::kHttp ? "HTTP" : "lines";
  if (const auto* const tcp = std::get_if<Tcp>(&acceptor_)) {
    const auto endpoint = tcp->local_endpoint();
    const std::string address = endpoint.address().to_string();
    const bool v6 = endpoint.address().is_v6();
    return fmt::format("{}{}{}:{} ({})", v6 ? "[" : "", address, v6 ? "]" : "", endpoint.port(),
                       protocol);
  }
  return fmt::format("{} ({})", std::get<Local>(acceptor_).local_endpoint().path(), protocol);
}

std::vector<Listening> open_sockets(asio::io_context& context, const ServerOptions& options) {
  std::vector<Listening> sockets = handed_over(context);
  if (!sockets.empty()) return sockets;
  using Protocol = Listening::Protocol;
  if (options.port) {
    sockets.push_back(listen_tcp(context, options.address, *options.port, Protocol::kLines));
  }
  if (!options.socket.empty()) sockets.push_back(listen_local(context, options.socket));
  if (options.http) {
    sockets.push_back(listen_tcp(context, options.address, *options.http, Protocol::kHttp));
  }
  return sockets;
}

void notify(const std::string& state) {
  const char* const named = ::getenv("NOTIFY_SOCKET");
  if (named == nullptr || *named == '\0') return;
  std::string path = named;
  if (path[0] == '@') path[0] = '\0';  // an abstract one
  try {
    asio::io_context context;
    asio::local::datagram_protocol::socket socket(context);
    socket.open();
    socket.send_to(asio::buffer(state), asio::local::datagram_protocol::endpoint(path));
  } catch (const std::exception&) {
  }
}

}  // namespace leveret::daemon
