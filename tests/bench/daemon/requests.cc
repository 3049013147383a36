#include "requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace leveret::load {
namespace {

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// A line of VW text as an object of JSON. Labels and tags have no place there.
std::string to_json(std::string_view line) {
  std::string json = "{";
  bool is_first_space = true, is_first_feature = true;
  line.remove_prefix(std::min(line.find('|'), line.size()));
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (word.starts_with('|')) {
      json += fmt::format("{}\"{}\":[", is_first_space ? "" : "],", word.substr(1));
      is_first_space = false;
      is_first_feature = true;
      continue;
    }
    const std::size_t colon = word.find(':');
    json += is_first_feature ? "" : ",";
    if (colon == word.npos) {
      json += fmt::format("\"{}\"", word);
    } else {
      json += fmt::format("{{\"{}\":{}}}", word.substr(0, colon), word.substr(colon + 1));
    }
    is_first_feature = false;
  }
  return json + (is_first_space ? "}" : "]}");
}

std::string json_body(std::string_view lines, bool context_lines) {
  std::string context, candidates;
  bool is_first = true;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string object = to_json(lines.substr(0, end));
    lines.remove_prefix(end + 1);
    if (is_first && context_lines) {
      context = "\"context\":" + object + ",";
    } else {
      candidates += (candidates.empty() ? "" : ",") + object;
    }
    is_first = false;
  }
  return "{" + context + "\"candidates\":[" + candidates + "]}";
}

Request make_request(const std::string& lines, const RequestOptions& options) {
  Request request;
  const auto count = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  request.candidates = options.context_lines ? count - 1 : count;
  request.answer_lines = count;  // with a context, the empty line's answer stands for its
  const bool is_json = options.protocol == Protocol::kJson;
  std::string body = is_json ? json_body(lines, options.context_lines) : lines;
  if (options.context_lines && !is_json) body += '\n';
  if (options.protocol == Protocol::kLines) {
    request.bytes = std::move(body);
    return request;
  }
  const bool in_blocks = options.context_lines && !is_json;
  request.bytes = fmt::format(
      "POST {}{} HTTP/1.1\r\nHost: leveret\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}",
      options.target,
      !in_blocks                                      ? ""
      : options.target.find('?') == std::string::npos ? "?context_lines=1"
                                                      : "&context_lines=1",
      is_json ? "application/json" : "text/plain", body.size(), body);
  return request;
}

}  // namespace

std::vector<std::string> read_pieces(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<std::string> pieces;
  bool is_open = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !is_open) pieces.emplace_back();
    is_open = !line.empty();
    if (is_open) pieces.back() += line + '\n';
  }
  return pieces;
}

std::vector<Request> read_requests(const std::string& path, const RequestOptions& options) {
  std::vector<Request> requests;
  for (const std::string& lines : read_pieces(path)) {
    requests.push_back(make_request(lines, options));
  }
  if (requests.empty()) throw std::runtime_error(path + ": has no requests");
  return requests;
}

}  // namespace leveret::load
