#include "daemon/json_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leveret::daemon {
namespace {

constexpr const char* kShape =
    "the request must be an object with \"candidates\", and perhaps \"context\"";

}  // namespace

bool JsonRequest::read(std::size_t bytes) {
  const std::size_t end = scan_.at() + bytes;
  while (state_ != At::kRead && scan_.at() < end) state_ = step();
  return state_ != At::kRead;
}

JsonRequest::At JsonRequest::step() {
  switch (state_) {
    case At::kStart:
      if (scan_.is_at_end()) scan_.fail(kShape);
      if (!scan_.take('{')) throw BadJson(kShape);
      return scan_.take('}') ? At::kEnd : At::kMember;
    case At::kMember:
      return take_member();
    case At::kBehind:
      if (scan_.take('}')) return At::kEnd;
      if (!scan_.take(',')) scan_.fail("a comma or the end of the request is missing");
      return At::kMember;
    case At::kCandidate:
      if (take_candidate()) return At::kCandidate;
      scan_.take(']');
      return At::kBehind;
    case At::kEnd:
      if (!scan_.is_at_end()) throw BadJson(kShape);
      if (!candidates_) throw BadJson("the request has no \"candidates\"");
      scan_.go_to(*candidates_);
      met_ = 0;
      return At::kRead;
    case At::kRead:
      break;
  }
  return At::kRead;
}

JsonRequest::At JsonRequest::take_member() {
  const std::string_view name = scan_.take_string();
  if (!scan_.take(':')) scan_.fail("a colon is missing");
  if (name == "context") {
    if (context_) throw BadJson("\"context\" comes twice");
    context_ = scan_.take_object("\"context\" must be an object");
    return At::kBehind;
  }
  if (name != "candidates") {
    throw BadJson(
        fmt::format("{}: is no member of a request; there are \"context\" and \"candidates\"",
                    json_string(name)));
  }
  if (candidates_) throw BadJson("\"candidates\" comes twice");
  if (!scan_.take('[')) scan_.fail("\"candidates\" must be a list of objects");
  candidates_ = scan_.at();
  return At::kCandidate;
}

/// Nothing before the end of the list.
std::optional<std::string_view> JsonRequest::take_candidate() {
  if (scan_.peek() == ']') return std::nullopt;
  if (met_ > 0 && !scan_.take(',')) scan_.fail("a comma or the end of the list is missing");
  return scan_.take_object(fmt::format("candidate {} must be an object", met_++));
}

std::optional<std::string_view> JsonRequest::next() { return take_candidate(); }

std::optional<std::string_view> inner_namespaces(std::string_view object) {
  JsonScan scan(object);
  if (!scan.take('{') || scan.peek() != '"' || scan.take_string() != "namespaces") return {};
  if (!scan.take(':') || scan.peek() != '{') return {};
  const std::string_view inner = scan.take_object("");
  return scan.take('}') && scan.is_at_end() ? std::optional(inner) : std::nullopt;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace leveret::daemon
