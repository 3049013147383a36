#include "cli/learn/list_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/console.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

/// "[0.1,0.2]", "[1, 2]"; not "[18,25)", an interval's name.
bool begins_list(std::string_view text) {
  const std::size_t end = text.find_first_not_of("+-.0123456789eE, ", 1);
  if (end == std::string_view::npos || text[end] != ']') return false;
  return text.substr(0, end).find(',') != std::string_view::npos;
}

/// The place of the first such word; npos: there is none.
std::size_t find_list(std::string_view text) {
  std::size_t at = text.find(" [");
  while (at != text.npos && !begins_list(text.substr(at + 1))) at = text.find(" [", at + 1);
  return at == text.npos ? at : at + 1;
}

}  // namespace

void ListHint::look(const text::ExampleChunk& chunk, const std::string& source) {
  if (chunk.first_line != 1 || is_told_) return;
  const std::string_view text = chunk.bytes;
  const std::size_t at = find_list(text);
  if (at == text.npos || is_told_.exchange(true)) return;
  const std::string_view before = text.substr(0, at), rest = text.substr(at);
  say(
      fmt::format("warning: {}:{}: {} is the name of one feature, not a list of numbers; give each "
                  "number a name, such as e0:0.1 e1:0.2",
                  source, 1 + std::ranges::count(before, '\n'),
                  stream::escaped(rest.substr(0, rest.find_first_of(" |\r\n")))));
}

}  // namespace leveret::cli
