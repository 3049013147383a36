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

bool is_own(std::string_view host, const std::vector<std::string>& allowed) {
  if (host.starts_with('[')) return true;  // an address of IPv6
  std::string name(host.substr(0, host.find(':')));
  beast::string_view own = name;
  if (name.ends_with('.')) own = own.substr(0, own.size() - 1);
  const bool is_address = own.find_first_not_of("0123456789.") == beast::string_view::npos;
  constexpr beast::string_view kBelow = ".localhost";
  const bool is_below =
      own.size() > kBelow.size() && beast::iequals(own.substr(own.size() - kBelow.size()), kBelow);
  if (is_address || is_below || own.find('.') == beast::string_view::npos) return true;
  return std::ranges::any_of(
      allowed, [&](const std::string& one) { return one == "*" || beast::iequals(own, one); });
}

}  // namespace

std::optional<BadHead> fault_of(const HttpHead& head, bool own,
                                const std::vector<std::string>& allowed) {
  if (auto fault = fault_of_length(head)) return fault;
  const std::size_t hosts = count_of(head, http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11) || !is_host(head[http::field::host])) {
    return BadHead{400, "Host: send one name"};
  }
  const beast::string_view host = head[http::field::host];
  if (own && !is_own({host.data(), host.size()}, allowed)) {
    return BadHead{421,
                   "Host: only requests to a name of this machine are answered; leveret serve "
                   "--allow_host NAME allows another name"};
  }
  const std::size_t expects = count_of(head, http::field::expect);
  if (expects > 0 && head.version() >= 11 &&
      (expects > 1 || !beast::iequals(head[http::field::expect], "100-continue"))) {
    return BadHead{417, "Expect: only 100-continue is supported"};
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
