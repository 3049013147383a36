#include "daemon/json_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace leveret::daemon {

void JsonScan::fail(std::string_view what) const {
  if (at_ >= text_.size()) fail_at_end();
  throw BadJson(fmt::format("byte {}: {}", at_ + 1, what));
}

void JsonScan::fail_at_end() const {
  throw BadJson(fmt::format("byte {}: ends too early", text_.size() + 1));
}

char JsonScan::peek() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScan::take(char wanted) {
  if (peek() != wanted || at_ == text_.size()) return false;
  ++at_;
  return true;
}

std::string_view JsonScan::take_string() {
  if (!take('"')) fail("a name in quotes is missing");
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) fail_at_end();
  return text_.substr(begin, at_++ - begin);
}

std::string_view JsonScan::take_object(std::string_view else_what) {
  if (peek() != '{') fail(else_what);
  const std::size_t begin = at_;
  std::size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      take_string();
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return text_.substr(begin, at_ - begin);
  }
  fail_at_end();
}

}  // namespace leveret::daemon
