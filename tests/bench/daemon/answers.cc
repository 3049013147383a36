#include "answers.h"

#include <charconv>

namespace leveret::load {
namespace {

/// A header's value, of a server that writes names as we do.
std::string_view header(std::string_view head, std::string_view name) {
  const std::size_t begin = head.find(name);
  if (begin == head.npos) return {};
  head.remove_prefix(begin + name.size());
  return head.substr(0, head.find('\r'));
}

}  // namespace

AnswerReader::Answer AnswerReader::read(std::string_view bytes, const Request& request) {
  return protocol_ == Protocol::kLines ? read_lines(bytes, request.answer_lines) : read_http(bytes);
}

AnswerReader::Answer AnswerReader::read_lines(std::string_view bytes, std::size_t lines) {
  while (lines_ < lines) {
    const std::size_t end = bytes.find('\n', seen_);
    if (end == bytes.npos) {
      seen_ = bytes.size();
      return {};
    }
    seen_ = end + 1;
    ++lines_;
  }
  const Answer answer{true, true, seen_, bytes.substr(0, seen_), {}};
  seen_ = lines_ = 0;
  return answer;
}

AnswerReader::Answer AnswerReader::read_http(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == bytes.npos) return {};
  const std::string_view head = bytes.substr(0, end + 2);
  const std::string_view length = header(head, "\r\nContent-Length: ");
  std::size_t size = 0;
  std::from_chars(length.data(), length.data() + length.size(), size);
  if (bytes.size() < end + 4 + size) return {};
  Answer answer;
  answer.is_whole = true;
  answer.is_good = head.starts_with("HTTP/1.1 200 ");
  answer.size = end + 4 + size;
  answer.body = bytes.substr(end + 4, size);
  answer.fingerprint = header(head, "\r\nLeveret-Fingerprint: ");
  return answer;
}

}  // namespace leveret::load
