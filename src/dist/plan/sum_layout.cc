#include "dist/plan/sum_layout.h"

namespace leveret::dist {

SumLayout SumLayout::of(const block::Config& config, std::size_t fields,
                        std::size_t by_key_groups) {
  SumLayout at;
  at.by_key_groups = by_key_groups;
  const auto place = [&at](std::size_t floats) {
    at.size += floats;
    return at.size - floats;
  };
  at.linear = place(1);
  if (config.mixed) {
    at.linear2 = place(1);
    at.fast = place(1);
    at.squares = place(1);
    at.counts = place(1);
    at.by_key = place(by_key_groups);
  }
  const bool one_score = !config.mixed && !config.has_mlp();
  if (config.has_ffm() && !one_score) at.pairs = place(1);
  if (config.mixed && (config.has_ffm() || config.has_fm())) at.value_squares = place(1);
  if (const block::Rows* const fm = config.find_rows(block::Rows::Kind::kFm)) {
    at.vector_floats = fm->part.k * (config.layers_read_fm() ? 2 : 1);
    at.vector = place(at.vector_floats);
    if (!one_score) at.vector_squares = place(1);
  }
  if (config.has_mlp()) {
    at.hidden = config.towers[0].hidden[0];
    at.input_squares = place(1);
    at.normalised = place(at.hidden);
    const bool have_owners = by_key_groups < fields + 1;
    if (config.mixed && have_owners) at.others = place(at.hidden);
    if (by_key_groups > 0) {
      at.group_linear = place(by_key_groups);
      if (config.mixed) at.group_seen = place(by_key_groups);
    }
  }
  return at;
}

}  // namespace leveret::dist
