/// A connection of the line protocol.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>

#include "daemon/net/loop.h"

namespace leveret::daemon {

using Executor = boost::asio::io_context::executor_type;
using TcpStream = boost::beast::basic_stream<boost::asio::ip::tcp, Executor>;
using LocalStream = boost::beast::basic_stream<boost::asio::local::stream_protocol, Executor>;

/// Serves it to its end. In the thread of the loop, which outlives it.
boost::asio::awaitable<void> serve_lines(TcpStream stream, Loop& loop);
boost::asio::awaitable<void> serve_lines(LocalStream stream, Loop& loop);

/// A connection of HTTP/1.1.
boost::asio::awaitable<void> serve_http(TcpStream stream, Loop& loop);

}  // namespace leveret::daemon
