#include "dist/batch_maker.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace leveret::dist {

BatchMaker::BatchMaker(const model::Spec& spec, std::vector<feature::NamespacePlan> known,
                       std::uint32_t known_fields, const text::NamespaceNames& names,
                       model::Use use)
    : size_(spec.batch_size),
      use_(use),
      constant_(spec.constant),
      admission_{spec.admit},
      features_(spec.map_options(), known),
      names_(names),
      known_namespaces_(known.size()),
      known_fields_(known_fields) {
  batch_.groups = spec.uses_groups();
  // Declared fields are there before the first example.
  if (features_.field_count() > known_fields) steps_.push_back(features_.field_count());
  if (learns()) return;
  if (!steps_.empty()) throw std::runtime_error("a model that has met no example cannot predict");
  features_.meet_known(names_);
}

std::size_t BatchMaker::take(const text::ExampleChunk& chunk, std::size_t first,
                             std::size_t count) {
  const std::size_t wanted = std::min(count, size_ - batch_.size());
  std::size_t taken = 0;
  while (true) {
    const std::size_t at = first + taken;
    const std::size_t more = features_.map(chunk, at, wanted - taken, batch_);
    for (std::size_t i = at; i < at + more; ++i) waiting_.add(chunk, chunk.examples[i]);
    taken += more;
    if (taken == wanted) return taken;
    const std::uint32_t before = features_.field_count();
    features_.meet(names_, chunk, first + taken, learns());
    if (features_.field_count() != before) steps_.push_back(features_.field_count());
  }
}

Growth BatchMaker::growth() {
  Growth growth;
  if (!learns()) return growth;
  const std::vector<feature::NamespacePlan>& all = features_.plans();
  growth.namespaces.assign(all.begin() + static_cast<std::ptrdiff_t>(known_namespaces_), all.end());
  growth.fields = std::exchange(steps_, {});
  if (!growth.fields.empty()) {
    growth.sizes = guess_sizes(batch_, known_fields_, features_.field_count(), admission_);
  }
  known_namespaces_ = all.size();
  known_fields_ = features_.field_count();
  return growth;
}

void BatchMaker::finish(std::span<const float> scores, predict::Outcomes& outcomes) {
  for (std::size_t b = 0; b < scores.size(); ++b) {
    predict::Outcome outcome = waiting_.items[b];
    outcome.set_score(scores[b]);
    outcome.features = batch_.linear_end(b) - batch_.linear_begin(b) + (constant_ ? 1 : 0);
    outcome.tag_begin = static_cast<std::uint32_t>(outcomes.tags.size());
    outcomes.tags.append(waiting_.tag(waiting_.items[b]));
    outcomes.items.push_back(outcome);
  }
  waiting_.clear();
  batch_.clear();
}

}  // namespace leveret::dist
