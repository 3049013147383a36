/// The head of a request, beyond what Beast sees to (RFC 9112).
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>

namespace leveret::daemon {

using HttpHead = boost::beast::http::request_header<boost::beast::http::fields>;

struct BadHead {
  unsigned status;
  std::string why;
};

/// Why it is not answered, and its connection is to be closed. A body whose length is not certain
/// would be taken for the next request (6.3), and one without a single Host may be meant for
/// somebody else (3.2).
std::optional<BadHead> fault_of(const HttpHead& head);

/// Its target as a path: "http://host/path" is one, too (3.2.2).
std::string path_of(const HttpHead& head);

}  // namespace leveret::daemon
