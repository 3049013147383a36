#include "predict/request_lines.h"

#include "predict/parts.h"

namespace leveret::predict {

void RequestLines::read(const text::ExampleChunk& chunk, RequestChunk& out) {
  out.context.clear();
  out.stretches.clear();
  if (state_ == State::kCandidates) {
    append_whole(context_, context_.examples[0], out.context);
    out.stretches.push_back({0, 0, false});
  }
  out.answers.assign(chunk.lines(), LineAnswer::kEmpty);
  for (const text::BadLine& bad : chunk.bad) {
    out.answers[bad.line - chunk.first_line] = LineAnswer::kBad;
  }
  std::size_t example = 0;
  for (std::size_t i = 0; i < out.answers.size(); ++i) {
    LineAnswer& answer = out.answers[i];
    if (example < chunk.examples.size() && chunk.examples[example].line == chunk.first_line + i) {
      const State before = state_;
      read_example(chunk, example++, out);
      answer = before == State::kBetween      ? LineAnswer::kNone
               : before == State::kCandidates ? LineAnswer::kScored
                                              : LineAnswer::kBad;
    } else if (answer == LineAnswer::kBad) {
      if (state_ != State::kBetween) continue;
      answer = LineAnswer::kNone;
      state_ = State::kLost;
      ++requests_;
    } else if (state_ == State::kBetween) {
      answer = LineAnswer::kNone;
    } else {
      state_ = State::kBetween;
    }
  }
}

void RequestLines::read_example(const text::ExampleChunk& chunk, std::size_t example,
                                RequestChunk& out) {
  if (state_ == State::kCandidates) {
    out.stretches.back().end = example + 1;
  } else if (state_ == State::kBetween) {
    out.stretches.push_back({example + 1, example + 1, true});
    context_.clear();
    append_whole(chunk, chunk.examples[example], context_);
    state_ = State::kCandidates;
    ++requests_;
  }
}

}  // namespace leveret::predict
