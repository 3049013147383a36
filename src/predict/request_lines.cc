#include "predict/request_lines.h"

#include "predict/parts.h"
#include "text/label.h"

namespace leveret::predict {

void RequestLines::read(const text::ExampleChunk& chunk, RequestChunk& out) {
  if (chunk.source != source_ && chunk.lines() > 0) {
    source_ = chunk.source;
    end_request();
  }
  out.context.clear();
  out.stretches.clear();
  if (state_ == State::kCandidates) {
    append_whole(context_, context_.examples[0], out.context);
    out.stretches.push_back({0, 0, false});
  }
  out.answers.assign(chunk.lines(), LineAnswer::kEmpty);
  std::size_t example = 0, bad = 0;
  for (std::size_t i = 0; i < out.answers.size(); ++i) {
    const std::uint64_t line = chunk.first_line + i;
    if (example < chunk.examples.size() && chunk.examples[example].line == line) {
      out.answers[i] = read_example(chunk, example++, out);
    } else if (bad < chunk.bad.size() && chunk.bad[bad].line == line) {
      out.answers[i] = read_bad(chunk, chunk.bad[bad++]);
    } else {
      if (state_ == State::kBetween) out.answers[i] = LineAnswer::kNone;
      state_ = State::kBetween;
    }
  }
}

void RequestLines::end_request() {
  if (state_ != State::kBetween) state_ = State::kEnded;
}

/// With a context that is good or lost. Its line is answered for the end of the request before, if
/// that is due, and else not at all.
LineAnswer RequestLines::begin_request(State state) {
  const LineAnswer answer = state_ == State::kEnded ? LineAnswer::kEmpty : LineAnswer::kNone;
  state_ = state;
  ++requests_;
  return answer;
}

LineAnswer RequestLines::read_example(const text::ExampleChunk& chunk, std::size_t example,
                                      RequestChunk& out) {
  if (chunk.examples[example].shared) end_request();
  if (state_ == State::kLost) return LineAnswer::kBad;
  if (state_ == State::kCandidates) {
    out.stretches.back().end = example + 1;
    return LineAnswer::kScored;
  }
  out.stretches.push_back({example + 1, example + 1, true});
  context_.clear();
  append_whole(chunk, chunk.examples[example], context_);
  return begin_request(State::kCandidates);
}

LineAnswer RequestLines::read_bad(const text::ExampleChunk& chunk, const text::BadLine& bad) {
  if (text::has_shared_label(chunk.view(bad.text_begin, bad.text_size))) end_request();
  const bool candidate = state_ == State::kCandidates || state_ == State::kLost;
  return candidate ? LineAnswer::kBad : begin_request(State::kLost);
}

}  // namespace leveret::predict
