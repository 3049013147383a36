/// Requests in lines of their own, as VW's multi-line examples are: a line with the context's
/// features, a line for each candidate, an empty line. The end of a file ends a request, too, and a
/// line with the label "shared" is a context wherever it stands.
#pragma once

#include <cstddef>
#include <vector>

#include "predict/outcome.h"
#include "text/example.h"

namespace leveret::predict {

/// What a chunk of such lines is made of.
struct RequestChunk {
  /// Of a stretch of the chunk's examples.
  struct Stretch {
    std::size_t begin, end;  ///< the candidates
    bool has_context;        ///< it begins a request, with the example before `begin` as context
  };

  /// The context of the stretch that does not begin one; no example: there is none.
  text::ExampleChunk context;
  std::vector<Stretch> stretches;   ///< candidates of bad contexts are in none
  std::vector<LineAnswer> answers;  ///< by line
};

/// Walks over the chunks of a stream in their order. One thread at a time.
class RequestLines {
 public:
  /// A chunk in whose source the one before has ended, or is gone on with.
  void read(const text::ExampleChunk& chunk, RequestChunk& out);
  /// Whether the last line belongs to a request, whose end is then that of the input.
  bool is_open() const { return state_ != State::kBetween; }
  std::uint64_t requests() const { return requests_; }

 private:
  enum class State {
    kBetween,     ///< the next line is a context
    kEnded,       ///< the same; the request before has ended without an empty line
    kCandidates,  ///< or the end
    kLost,        ///< the same, but the context's line was bad
  };
  void end_request();
  LineAnswer begin_request(State state);
  LineAnswer read_example(const text::ExampleChunk& chunk, std::size_t example, RequestChunk& out);
  LineAnswer read_bad(const text::ExampleChunk& chunk, const text::BadLine& bad);

  State state_ = State::kBetween;
  text::ExampleChunk context_;  ///< of kCandidates
  std::uint32_t source_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace leveret::predict
