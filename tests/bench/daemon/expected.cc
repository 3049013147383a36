#include "expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace leveret::load {
namespace {

/// Lines of numbers, as a list of JSON has them.
std::string as_list(std::string lines) {
  if (!lines.empty()) lines.pop_back();
  std::ranges::replace(lines, '\n', ',');
  return lines;
}

}  // namespace

Expected::Expected(const std::vector<std::string>& given, const std::vector<Request>& requests,
                   const RequestOptions& options)
    : protocol_(options.protocol) {
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw std::runtime_error(text + ": is no FINGERPRINT=FILE");
    Version version;
    version.fingerprint = text.substr(0, equals);
    const std::string path = text.substr(equals + 1);
    version.answers = read_pieces(path);
    if (version.answers.size() != requests.size()) {
      throw std::runtime_error(fmt::format("{}: has answers to {} requests, not {}", path,
                                           version.answers.size(), requests.size()));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      std::string& answer = version.answers[i];
      if (static_cast<std::size_t>(std::ranges::count(answer, '\n')) != requests[i].candidates) {
        throw std::runtime_error(
            fmt::format("{}: request {} has other answers than candidates", path, i));
      }
      if (protocol_ == Protocol::kJson) {
        answer = as_list(std::move(answer));
      } else if (options.context_lines) {
        answer += '\n';
      }
    }
    versions_.push_back(std::move(version));
  }
}

bool Expected::is_equal(const std::string& answer, std::string_view body) const {
  if (protocol_ != Protocol::kJson) return answer == body;
  constexpr std::string_view kList = "\"predictions\":[";
  const std::size_t begin = body.find(kList);
  if (begin == body.npos) return false;
  body.remove_prefix(begin + kList.size());
  return body.substr(0, body.find(']')) == answer;
}

bool Expected::is_right(std::string_view fingerprint, std::size_t request, std::string_view body) {
  for (Version& version : versions_) {
    if (!fingerprint.empty() && version.fingerprint != fingerprint) continue;
    if (!is_equal(version.answers[request], body)) continue;
    ++version.count;
    return true;
  }
  return false;
}

std::map<std::string, std::size_t> Expected::counts() const {
  std::map<std::string, std::size_t> counts;
  for (const Version& version : versions_) counts[version.fingerprint] += version.count;
  return counts;
}

}  // namespace leveret::load
