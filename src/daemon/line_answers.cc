#include "daemon/line_answers.h"

#include <fmt/format.h>

#include "predict/prediction_text.h"

namespace leveret::daemon {

using predict::LineAnswer;

void LineAnswers::answer(Scorer& scorer, std::string_view lines, std::string& to) {
  const std::uint64_t first = chunk_.first_line;
  chunk_.free_large();
  chunk_.clear();
  chunk_.first_line = first;
  chunk_.bytes = lines;
  scorer.parse(chunk_, context_lines_);
  bad_ += chunk_.bad.size();
  if (first_bad_.empty() && !chunk_.bad.empty()) {
    const text::BadLine& bad = chunk_.bad[0];
    first_bad_ = fmt::format("line {}, column {}: {}", bad.line, bad.column, bad.what);
  }
  outcomes_.clear();
  if (context_lines_) {
    requests_.read(chunk_, parts_);
    score_blocks(scorer);
  } else {
    parts_.answers = predict::answers_of(chunk_);
    scorer.score(chunk_, 0, chunk_.examples.size(), nullptr, outcomes_);
  }
  append_answers(scorer, to);
  chunk_.first_line += chunk_.lines();
}

void LineAnswers::score_blocks(Scorer& scorer) {
  for (const predict::RequestChunk::Stretch& stretch : parts_.stretches) {
    if (stretch.has_context) context_ = scorer.context(chunk_, stretch.begin - 1);
    scorer.score(chunk_, stretch.begin, stretch.end - stretch.begin, context_.get(), outcomes_);
  }
  if (!requests_.is_open()) context_.reset();
}

void LineAnswers::append_answers(const Scorer& scorer, std::string& to) {
  std::size_t next = 0;
  for (const LineAnswer answer : parts_.answers) {
    switch (answer) {
      case LineAnswer::kScored: {
        const predict::Outcome& outcome = outcomes_.items[next++];
        predict::append_prediction(to,
                                   scorer.options().scores ? outcome.score : outcome.probability,
                                   outcomes_.tag(outcome));
        break;
      }
      case LineAnswer::kEmpty:
        to += '\n';
        break;
      case LineAnswer::kBad:
        to += "nan\n";
        break;
      case LineAnswer::kNone:
        break;
    }
  }
}

void LineAnswers::end(std::string& to) {
  if (requests_.is_open()) to += '\n';
  requests_ = {};
  context_.reset();
}

}  // namespace leveret::daemon
