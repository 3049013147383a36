#include "block/module/field_tokens.h"

#include <algorithm>
#include <cstddef>

#include "block/bound.h"

namespace leveret::block {

Tokens FieldTokens::declare(const Tower& tower, std::uint32_t hidden, const Config& config,
                            const tape::Extent& extent, tape::Declarations& declarations) {
  fields_ = declarations.read(kEmbeddings);
  tokens_ = {.width = config.find_rows(Rows::Kind::kEmbedding)->part.used_k};
  if (tower.reads(kNumbers)) {
    tokens_.before = 1;
    numbers_token_ =
        numbers_.declare(tower.name + ".numbers", hidden, tokens_.width, config, declarations);
  }
  chosen_ = tower.fields;
  if (!chosen_.empty()) {
    tokens_.fixed = tokens_.before + static_cast<std::uint32_t>(chosen_.size());
  }
  tokens_.id = declarations.add(
      tape::Tensor{.name = tower.name + ".fields", .size = tokens_.size(extent), .gradient = true});
  return tokens_;
}

void FieldTokens::put(const Run& run) const {
  if (before() > 0) numbers_.forward(run);
  const std::size_t all = tokens_.size(run.parameters.layout);
  const std::size_t d = tokens_.width;
  if (all == 0) return;
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* to = run.tape[tokens_.id].at(b);
    if (before() > 0) std::copy_n(run.tape[numbers_token_].at(b), before(), to);
    bound(kMost, to, before());
    to += before();
    const float* const e = run.tape[fields_.id].at(b);
    if (chosen_.empty()) std::copy_n(e, all - before(), to);
    for (const std::uint32_t f : chosen_) to = std::copy_n(e + f * d, d, to);
  }
}

void FieldTokens::hand_back(const Run& run) const {
  const std::size_t all = tokens_.size(run.parameters.layout);
  const std::size_t width = tokens_.width;
  float* const d_fields = run.tape.tensors.d_of_reader(fields_, run.tape.size);
  const std::size_t stride = run.tape[fields_.id].d_stride;
  std::fill_n(d_fields, run.tape.size * stride, 0.0f);
  for (std::size_t b = 0; b < run.tape.size && all > 0; ++b) {
    const float* d = run.tape[tokens_.id].d_at(b);
    if (before() > 0) std::copy_n(d, before(), run.tape[numbers_token_].d_at(b));
    d += before();
    float* const d_e = d_fields + b * stride;
    if (chosen_.empty()) std::copy_n(d, all - before(), d_e);
    for (const std::uint32_t f : chosen_) {
      std::copy_n(d, width, d_e + f * width);
      d += width;
    }
  }
  run.tape.tensors.add_d_of_reader(fields_, run.tape.size);
  if (before() > 0) numbers_.backward(run);
}

}  // namespace leveret::block
