#include "daemon/line_answers.h"

#include <fmt/format.h>

#include "daemon/pieces.h"
#include "predict/prediction_text.h"

namespace leveret::daemon {

using predict::LineAnswer;

void LineWork::parse(Scorer& scorer, std::string_view text, std::uint64_t first_line,
                     bool shared_label) {
  chunk.free_large();
  chunk.clear();
  chunk.first_line = first_line;
  chunk.bytes = text;
  scorer.parse(chunk, shared_label);
  outcomes.clear();
}

void LineAnswers::answer(Scorer& scorer, std::string_view lines, std::string& to) {
  work_.parse(scorer, lines, lines_ + 1, context_lines_);
  const text::ExampleChunk& chunk = work_.chunk;
  lines_ += chunk.lines();
  bad_ += chunk.bad.size();
  if (first_bad_.empty() && !chunk.bad.empty()) {
    const text::BadLine& bad = chunk.bad[0];
    first_bad_ = fmt::format("line {}, column {}: {}", bad.line, bad.column, bad.what);
  }
  if (context_lines_) {
    requests_.read(chunk, work_.parts);
    score_blocks(scorer);
  } else {
    work_.parts.answers = predict::answers_of(chunk);
    scorer.score(chunk, 0, chunk.examples.size(), nullptr, work_.outcomes);
  }
  append_answers(scorer, to);
}

std::string_view LineAnswers::take_piece(std::string_view& lines) const {
  const std::size_t cost = context_ ? Scorer::context_cost(*context_) : 0;
  return daemon::take_piece(lines, {context_lines_, cost});
}

void LineAnswers::score_blocks(Scorer& scorer) {
  for (const predict::RequestChunk::Stretch& stretch : work_.parts.stretches) {
    if (stretch.has_context) context_ = scorer.context(work_.chunk, stretch.begin - 1);
    scorer.score(work_.chunk, stretch.begin, stretch.end - stretch.begin, context_.get(),
                 work_.outcomes);
  }
  if (!requests_.is_open()) context_.reset();
}

void LineAnswers::append_answers(const Scorer& scorer, std::string& to) {
  std::size_t next = 0;
  for (const LineAnswer answer : work_.parts.answers) {
    if (answer != LineAnswer::kScored) {
      predict::append_unscored(to, answer);
      continue;
    }
    const predict::Outcome& outcome = work_.outcomes.items[next++];
    predict::append_prediction(to, scorer.number(outcome), work_.outcomes.tag(outcome));
  }
}

void LineAnswers::end(std::string& to) {
  if (requests_.is_open()) to += '\n';
  requests_ = {};
  context_.reset();
}

}  // namespace leveret::daemon
