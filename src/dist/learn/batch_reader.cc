#include "dist/learn/batch_reader.h"

#include "dist/learn/batch_message.h"

namespace leveret::dist {

BatchReader::BatchReader(stream::ExampleSource& source, BatchMaker& maker, Plan& plan, Split split,
                         unsigned ranks, const train::InputPosition& start, Begin begin)
    : source_(source),
      maker_(maker),
      plan_(plan),
      split_(split),
      ranks_(ranks),
      walk_(start),
      begin_(std::move(begin)),
      thread_([this] { run(); }) {}

BatchReader::~BatchReader() {
  source_.stop();
  queue_.cancel();
  thread_.join();
}

void BatchReader::run() {
  try {
    read();
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

void BatchReader::read() {
  text::ExampleChunk chunk;
  while (source_.next(chunk)) {
    std::size_t at = walk_.pass_over(chunk);
    bad_lines_ = begin_(chunk, walk_.line_behind(chunk, at));
    while (at < chunk.examples.size()) {
      const std::size_t taken = maker_.take(chunk, at, chunk.examples.size() - at);
      walk_.add(chunk, at, taken);
      at += taken;
      if (maker_.ends_batch()) ends_.push_back(position());
      if (maker_.full() && !give_stretch()) return;
    }
    // Nobody is to wait for a prediction until more comes.
    if (!maker_.learns() && !give_stretch()) return;
  }
  give_stretch();
}

train::InputPosition BatchReader::position() const {
  train::InputPosition position;
  position.examples = walk_.examples();
  position.checksum = walk_.checksum();
  return position;
}

/// False: nobody wants it.
bool BatchReader::give_stretch() {
  for (std::size_t batch = 0; maker_.next(); ++batch) {
    making_.end = batch < ends_.size() ? ends_[batch] : position();
    if (!give()) return false;
  }
  ends_.clear();
  return true;
}

bool BatchReader::give() {
  making_.growth = maker_.growth();
  if (!making_.growth.fields.empty()) plan_.grow(making_.growth.sizes);
  making_.messages.resize(ranks_);
  making_.expected_bytes = 0;
  for (unsigned rank = 0; rank < ranks_; ++rank) cut_for(rank);
  no_scores_.assign(maker_.size(), 0.0f);
  making_.outcomes.clear();
  maker_.finish(no_scores_, making_.outcomes);
  making_.bad_lines = bad_lines_;
  making_.begins_stretch = maker_.begin() == 0;
  making_.ends_stretch = maker_.ends_stretch();
  making_.sightings = making_.ends_stretch ? maker_.sightings() : model::SightingCounts();
  return queue_.push(making_);
}

void BatchReader::cut_for(unsigned rank) {
  const feature::FeatureBatch& stretch = maker_.stretch();
  std::vector<PartBatch>& parts = rank == 0 ? making_.parts : parts_;
  if (split_ == Split::kExamples) {
    const ExampleShare share = ExampleShare::of(maker_.size(), rank, ranks_);
    parts.resize(1);
    cut(stretch, plan_, 0, maker_.begin() + share.begin, maker_.begin() + share.end, parts[0]);
  } else {
    const auto [first, count] = RankShards::of(plan_.shards(), rank, ranks_);
    parts.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      cut(stretch, plan_, first + i, maker_.begin(), maker_.end(), parts[i]);
    }
  }
  if (rank == 0) return;
  encode_batch(making_.growth, parts, maker_.size(), maker_.ends_stretch(), making_.messages[rank]);
  making_.expected_bytes += batch_bytes(parts);
}

}  // namespace leveret::dist
