/// A list of numbers in a line is one feature by that name to the parser, as to VW's: somebody who
/// has written `|emb [0.1,0.2]` is to hear of it.
#pragma once

#include <atomic>
#include <string>

#include "text/example.h"

namespace leveret::cli {

/// Any number of threads.
class ListHint {
 public:
  /// Says so once, where the chunk is the first one of its source and its text has such a word. One
  /// from a cache has no text. `source`: its name.
  void look(const text::ExampleChunk& chunk, const std::string& source);

 private:
  std::atomic<bool> is_told_{false};
};

}  // namespace leveret::cli
