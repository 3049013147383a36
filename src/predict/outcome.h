/// What a learner or a predictor says about each example it was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "block/logistic.h"
#include "text/example.h"

namespace leveret::predict {

struct Outcome {
  float probability;
  float score;  ///< its log-odds
  float label;  ///< +1, -1, 0 = none
  float importance;
  std::uint32_t features;             ///< as VW counts them: with interactions and the constant
  std::uint32_t tag_begin, tag_size;  ///< in Outcomes::tags

  void set_score(float log_odds) {
    score = log_odds;
    probability = block::sigmoid(log_odds);
  }
};

/// How a line of the input is answered.
enum class LineAnswer : std::uint8_t {
  kScored,  ///< by its prediction
  kEmpty,   ///< by an empty line
  kBad,     ///< by "nan"
  kNone,    ///< not at all
};

/// In the order of the examples. Used again for the next chunk without allocating.
struct Outcomes {
  std::vector<Outcome> items;
  std::string tags;

  std::string_view tag(const Outcome& outcome) const {
    return std::string_view(tags).substr(outcome.tag_begin, outcome.tag_size);
  }
  void clear() {
    items.clear();
    tags.clear();
  }
  /// Adds one of `others`, with its tag.
  Outcome& append(const Outcomes& others, std::size_t i) {
    Outcome& added = items.emplace_back(others.items[i]);
    added.tag_begin = static_cast<std::uint32_t>(tags.size());
    tags.append(others.tag(others.items[i]));
    return added;
  }
  /// Notes an example whose probability comes later (`items[i].set_score`).
  void add(const text::ExampleChunk& chunk, const text::Example& example) {
    const auto begin = static_cast<std::uint32_t>(tags.size());
    tags.append(chunk.view(example.tag_begin, example.tag_size));
    items.push_back({0.5f, 0.0f, example.label, example.importance, 0, begin, example.tag_size});
  }
};

}  // namespace leveret::predict
