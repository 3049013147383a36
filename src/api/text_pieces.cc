#include "api/text_pieces.h"

#include <algorithm>
#include <string>

#include "stream/line_cutter.h"

namespace leveret::api {
namespace {

const stream::CutterOptions kCut;

}  // namespace

std::size_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return ends + (!text.empty() && text.back() != '\n');
}

bool TextPieces::next(text::ExampleChunk& chunk) {
  chunk.free_large();
  chunk.clear();
  if (at_ == text_.size()) return false;
  const std::string_view rest = text_.substr(at_);
  const std::size_t first = std::min(rest.find('\n'), rest.size() - 1) + 1;
  chunk.first_line = lines_ + 1;
  if (first > kCut.max_line + 1) {
    take_long_line(first, chunk);
    at_ += first;
    ++lines_;
    return true;
  }
  std::size_t end = first;
  if (rest.size() <= kCut.chunk_bytes) {
    end = rest.size();
  } else if (first < kCut.chunk_bytes) {
    end = rest.rfind('\n', kCut.chunk_bytes - 1) + 1;
  }
  chunk.bytes = rest.substr(0, end);
  at_ += end;
  lines_ += count_lines(chunk.bytes);
  return true;
}

void TextPieces::take_long_line(std::size_t size, text::ExampleChunk& chunk) const {
  chunk.bytes = text_.substr(at_, std::min(size, stream::LineCutter::kExcerpt));
  chunk.bad.push_back({chunk.first_line, 0, static_cast<std::uint32_t>(chunk.bytes.size()),
                       static_cast<std::uint32_t>(kCut.max_line + 1),
                       "line is longer than 64 MiB"});
}

}  // namespace leveret::api
