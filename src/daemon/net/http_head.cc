#include "daemon/net/http_head.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <iterator>
#include <string_view>

namespace leveret::daemon {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::size_t count_of(const HttpHead& head, http::field name) {
  const auto [begin, end] = head.equal_range(name);
  return static_cast<std::size_t>(std::distance(begin, end));
}

/// A name or address, and a port: nothing that ends it or begins another.
bool is_host(beast::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return c > ' ' && c < 127 &&
           std::string_view("/\\,?#@\"<>{}|^`").find(c) == std::string_view::npos;
  });
}

std::optional<BadHead> fault_of_length(const HttpHead& head) {
  if (count_of(head, http::field::transfer_encoding) == 0) return std::nullopt;
  if (head.version() < 11) return BadHead{400, "Transfer-Encoding is of HTTP/1.1"};
  if (count_of(head, http::field::transfer_encoding) > 1 ||
      !beast::iequals(head[http::field::transfer_encoding], "chunked")) {
    return BadHead{400, "Transfer-Encoding: send chunked, once, or Content-Length"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<BadHead> fault_of(const HttpHead& head) {
  if (auto fault = fault_of_length(head)) return fault;
  const std::size_t hosts = count_of(head, http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11) || !is_host(head[http::field::host])) {
    return BadHead{400, "Host: send one name"};
  }
  const std::size_t expects = count_of(head, http::field::expect);
  if (expects > 0 && head.version() >= 11 &&
      (expects > 1 || !beast::iequals(head[http::field::expect], "100-continue"))) {
    return BadHead{417, "Expect: 100-continue is the only one there is"};
  }
  return std::nullopt;
}

std::string path_of(const HttpHead& head) {
  std::string target(head.target().data(), head.target().size());
  constexpr std::string_view kScheme = "http://";
  const bool is_absolute =
      target.size() >= kScheme.size() &&
      beast::iequals({target.data(), kScheme.size()}, {kScheme.data(), kScheme.size()});
  if (!is_absolute) return target;
  const std::size_t path = target.find_first_of("/?", kScheme.size());
  if (path == std::string::npos) return "/";
  return target[path] == '?' ? "/" + target.substr(path) : target.substr(path);
}

}  // namespace leveret::daemon
