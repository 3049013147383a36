#include "dist/learn/batch_maker.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "train/batches.h"

namespace leveret::dist {

BatchMaker::BatchMaker(const spec::Spec& spec, std::vector<feature::NamespacePlan> known,
                       std::uint32_t known_fields, const text::NamespaceNames& names,
                       LearnedSoFar start, model::Use use)
    : spec_(spec),
      use_(use),
      features_(spec.map_options(), known),
      names_(names),
      sightings_(features_, names, start.taken),
      learned_(start.examples),
      known_namespaces_(known.size()),
      known_fields_(known_fields) {
  stretch_.groups = spec.uses_feature_groups();
  // Declared fields are there before the first example.
  if (features_.field_count() > known_fields) {
    met_.push_back({0, known.size(), features_.field_count()});
  }
  if (!learns()) {
    if (!met_.empty()) throw std::runtime_error("a model that has met no example cannot predict");
    features_.meet_known(names_);
    spec_.batch_warmup = 0;
  }
}

void BatchMaker::meet(const text::ExampleChunk& chunk, std::size_t example) {
  features_.meet(names_, chunk, example, learns());
  met_.push_back({stretch_.size(), features_.plans().size(), features_.field_count()});
}

std::size_t BatchMaker::take(const text::ExampleChunk& chunk, std::size_t first,
                             std::size_t count) {
  if (stretch_.size() == 0) learned_before_ = learned_;
  if (room_ == 0) room_ = train::batch_after(learned_, spec_);
  const std::size_t wanted = std::min(count, room_);
  std::size_t taken = 0;
  while (taken < wanted) {
    const std::size_t at = first + taken;
    const std::size_t more = features_.map(chunk, at, wanted - taken, stretch_);
    for (std::size_t i = at; i < at + more; ++i) {
      const text::Example& example = chunk.examples[i];
      waiting_.add(chunk, example);
      learned_ += example.label != 0 && example.importance > 0;
    }
    sightings_.take(chunk, at, more);
    taken += more;
    if (taken < wanted) meet(chunk, first + taken);
  }
  room_ -= taken;
  if (room_ == 0) {
    ends_.push_back(stretch_.size());
    const bool at_multiple = learned_ > learned_before_ && learned_ % spec_.batch_size == 0;
    full_ = at_multiple || stretch_.size() >= spec_.batch_size;
  }
  return taken;
}

bool BatchMaker::next() {
  begin_ = end_;
  if (begin_ == stretch_.size()) {
    begin_ = end_ = batches_ = told_ = 0;
    stretch_.clear();
    waiting_.clear();
    ends_.clear();
    met_.clear();
    room_ = 0;
    full_ = false;
    return false;
  }
  end_ = batches_ < ends_.size() ? ends_[batches_] : stretch_.size();
  ++batches_;
  return true;
}

Growth BatchMaker::growth() {
  Growth growth;
  if (!learns()) return growth;
  const std::size_t before = known_namespaces_;
  std::uint32_t fields = known_fields_;
  for (; told_ < met_.size() && met_[told_].example < end_; ++told_) {
    known_namespaces_ = met_[told_].namespaces;
    if (met_[told_].fields == fields) continue;
    fields = met_[told_].fields;
    growth.fields.push_back(fields);
  }
  const std::vector<feature::NamespacePlan>& all = features_.plans();
  growth.namespaces.assign(all.begin() + static_cast<std::ptrdiff_t>(before),
                           all.begin() + static_cast<std::ptrdiff_t>(known_namespaces_));
  if (!growth.fields.empty()) {
    growth.sizes = guess_sizes(stretch_, known_fields_, fields, {spec_.admit});
  }
  known_fields_ = fields;
  return growth;
}

model::SightingCounts BatchMaker::sightings() {
  model::SightingCounts counts;
  sightings_.hand_over([&](const model::SightingCounts& counted) { counts = counted; });
  return counts;
}

void BatchMaker::finish(std::span<const float> scores, predict::Outcomes& outcomes) {
  for (std::size_t b = 0; b < scores.size(); ++b) {
    const std::size_t i = begin_ + b;
    predict::Outcome& outcome = outcomes.append(waiting_, i);
    outcome.set_score(scores[b]);
    outcome.features = stretch_.linear_end(i) - stretch_.linear_begin(i) + (spec_.constant ? 1 : 0);
  }
}

}  // namespace leveret::dist
