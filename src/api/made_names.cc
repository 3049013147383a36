#include "api/made_names.h"

#include <algorithm>
#include <utility>

namespace leveret::api {

RefuseMadeNames::RefuseMadeNames(const feature::FeatureOptions& options, Limit limit)
    : hash_seed_(options.hash_seed), hash_mode_(options.hash), limit_(std::move(limit)) {
  for (const feature::Transform& made : options.transforms) made_.push_back(hash(made.name));
}

std::uint32_t RefuseMadeNames::hash(std::string_view name) const {
  return text::hash_namespace(name, hash_seed_, hash_mode_);
}

bool RefuseMadeNames::is_made(const text::NamespaceNames& names, std::uint32_t name) {
  if (name >= known_.size()) known_.resize(name + std::size_t{1}, -1);
  signed char& known = known_[name];
  if (known < 0) known = std::ranges::find(made_, hash(names.name(name))) != made_.end() ? 1 : 0;
  return known == 1;
}

void RefuseMadeNames::operator()(const text::NamespaceNames& names, text::ExampleChunk& chunk) {
  if (limit_) limit_(names, chunk);
  std::vector<std::size_t> bad;
  for (std::size_t i = 0; i < chunk.examples.size(); ++i) {
    const text::Example& example = chunk.examples[i];
    for (std::uint32_t run = example.runs_begin; run < example.runs_end; ++run) {
      if (!is_made(names, chunk.runs[run].name)) continue;
      bad.push_back(i);
      break;
    }
  }
  chunk.turn_bad(bad, "a namespace has the name of what --transform makes");
}

}  // namespace leveret::api
