/// The head of a request, beyond what Beast sees to (RFC 9112).
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>
#include <vector>

namespace leveret::daemon {

using HttpHead = boost::beast::http::request_header<boost::beast::http::fields>;

struct BadHead {
  unsigned status;
  std::string why;
};

/// Why it is not answered, and its connection is to be closed. A body whose length is not certain
/// would be taken for the next request (6.3), and one without a single Host may be meant for
/// somebody else (3.2).
///
/// `own`: only this machine reaches the server, by a name that no page elsewhere can have (an
/// address, one without a dot, one below localhost), or one of `allowed` ("*": any). A browser asks
/// by another where that page's name has been made to lead to this machine (DNS rebinding), and
/// would let the page read the answer.
std::optional<BadHead> fault_of(const HttpHead& head, bool own,
                                const std::vector<std::string>& allowed);

/// Its target as a path: "http://host/path" is one, too (3.2.2).
std::string path_of(const HttpHead& head);

}  // namespace leveret::daemon
