#include "dist/sum_layout.h"

namespace leveret::dist {

SumLayout SumLayout::of(const block::Config& config, std::size_t groups_by_key) {
  SumLayout at;
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
    at.by_key_groups = groups_by_key;
    at.by_key = place(groups_by_key);
  }
  const bool one_score = !config.mixed && !config.has_mlp();
  if (config.has_ffm() && !one_score) at.pairs = place(1);
  if (config.mixed && (config.has_ffm() || config.has_fm())) at.value_squares = place(1);
  if (config.has_fm()) {
    at.vector_floats = config.fm_row.k;
    at.vector = place(at.vector_floats);
    if (!one_score) at.vector_squares = place(1);
  }
  if (config.has_mlp()) {
    at.hidden = config.hidden[0];
    at.input_squares = place(1);
    at.normalised = place(at.hidden);
    if (config.mixed) at.others = place(at.hidden);
    if (groups_by_key > 0) {
      at.fieldless_linear = place(1);
      if (config.mixed) at.fieldless_seen = place(1);
    }
  }
  return at;
}

}  // namespace leveret::dist
