#include "train/text_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace leveret::train {
namespace {

/// A last line may lack its line end; of one that is too long there is but the beginning.
std::uint64_t lines_of(const text::ExampleChunk& chunk) {
  if (!chunk.bad.empty()) return 1;
  const auto ends =
      static_cast<std::uint64_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n'));
  return ends + (!chunk.bytes.empty() && chunk.bytes.back() != '\n');
}

}  // namespace

TextWalk::TextWalk(InputPosition start) : start_(std::move(start)) {
  if (start_.examples == 0 || start_.is_lines) return;
  throw std::runtime_error(
      "the checkpoint is of a run in one thread: continue without --threads, or leave out --resume "
      "to "
      "begin anew");
}

bool TextWalk::next(stream::ExampleSource& source, text::ExampleChunk& chunk) {
  while (source.next(chunk)) {
    if (is_at_start()) {
      add(chunk.bytes, lines_of(chunk));
      return true;
    }
    if (pass_over(chunk)) return true;
  }
  return false;
}

/// Whether some of it is left.
bool TextWalk::pass_over(text::ExampleChunk& chunk) {
  const std::uint64_t lines = lines_of(chunk);
  const std::uint64_t passed = std::min(lines, start_.examples - lines_);
  std::size_t end = passed == lines ? chunk.bytes.size() : 0;
  for (std::uint64_t i = 0; end < chunk.bytes.size() && i < passed; ++i) {
    end = chunk.bytes.find('\n', end) + 1;
  }
  add(std::string_view(chunk.bytes).substr(0, end), passed);
  if (is_at_start() && position().checksum != start_.checksum) {
    throw std::runtime_error(
        fmt::format("the first {} lines are not those that the checkpoint has learned; give the "
                    "same input again, or leave out --resume to begin anew",
                    start_.examples));
  }
  if (passed == lines) return false;
  chunk.bytes.erase(0, end);
  chunk.first_line += passed;
  add(chunk.bytes, lines - passed);
  return true;
}

void TextWalk::add(std::string_view text, std::uint64_t lines) {
  sum_.add(std::as_bytes(std::span(text)));
  lines_ += lines;
}

void TextWalk::check_end() const {
  if (is_at_start()) return;
  throw std::runtime_error(
      fmt::format("the input ends after {} lines, and the checkpoint has learned {}; give the same "
                  "input again, from its start, or leave out --resume to begin anew",
                  lines_, start_.examples));
}

InputPosition TextWalk::position() const {
  InputPosition position;
  position.examples = lines_;
  position.checksum = store::to_hex(sum_.get());
  position.is_lines = true;
  return position;
}

}  // namespace leveret::train
