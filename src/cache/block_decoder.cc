#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "cache/cache_block.h"
#include "stream/bad_lines.h"

namespace leveret::cache {
namespace {

// Runs and features of plain examples are written in words of eight bytes: a store of each number
// would take twice the time.
static_assert(offsetof(text::NamespaceRun, name) == 0 && offsetof(text::Feature, hash) == 0 &&
              offsetof(text::NamespaceRun, hash) == 4 && offsetof(text::NamespaceRun, begin) == 8 &&
              offsetof(text::NamespaceRun, end) == 12 && offsetof(text::Feature, value) == 4);
constexpr std::uint64_t two_words(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t{second} << 32 | first;
}

}  // namespace

/// Columns whose bytes are on their way from memory while one is decoded.
constexpr std::size_t kColumnsAhead = 2;

/// How many runs of each column the next `examples` examples have: by template, as most share few.
void BlockDecoder::count_runs(std::size_t examples) {
  part_runs_.assign(columns_.size(), 0);
  const auto begin = template_of_.begin() + static_cast<std::ptrdiff_t>(example_);
  const std::span part(begin, examples);
  for (const std::uint32_t t : part) ++templates_[t].uses;
  for (const std::uint32_t at : part) {
    Template& t = templates_[at];
    const std::uint32_t uses = std::exchange(t.uses, 0);
    if (uses == 0) continue;
    for (std::uint32_t r = t.begin; r < t.end; ++r) part_runs_[run_columns_[r]] += uses;
  }
}

/// Decodes of each column what the next `examples` examples have of it.
void BlockDecoder::decode(std::size_t examples) {
  count_runs(examples);
  const std::size_t places = decode_counts();
  if (values_.size() < places) values_.resize(places);
  std::uint32_t* to = values_.data();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (c + kColumnsAhead < columns_.size()) {
      columns_[c + kColumnsAhead].hashes.prefetch(part_runs_[c + kColumnsAhead]);
    }
    column.hashes.next(column.part_features, to);
    hashes_[c] = to;
    to += column.part_features;
    if (column.all_ones) continue;
    column.values.next(column.part_features, to);
    column.next_value = to;
    to += column.part_features;
  }
}

/// Decodes how many features the runs at hand have. How many hashes and values that makes.
std::size_t BlockDecoder::decode_counts() {
  std::size_t runs = 0, places = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].one_each) runs += part_runs_[c];
  }
  if (counts_.size() < runs) counts_.resize(runs);
  std::uint32_t* to = counts_.data();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    column.part_features = part_runs_[c];
    if (!column.one_each) {
      column.counts.next(part_runs_[c], to);
      column.next_count = to;
      to += part_runs_[c];
      column.part_features =
          std::accumulate(column.next_count, column.next_count + part_runs_[c], std::size_t{0});
    }
    places += (column.all_ones ? 1 : 2) * column.part_features;
  }
  return places;
}

/// How many examples from example_ on make up about `features` features, and their runs.
std::size_t BlockDecoder::count_examples(std::size_t features, std::size_t& runs) const {
  // By the block's average of features in a run: looking at each count would move its cursor.
  const std::size_t wanted = features * runs_ / std::max<std::size_t>(features_, 1);
  runs = 0;
  std::size_t i = example_;
  while (i < template_of_.size() && (i == example_ || runs < wanted || runs_ == 0)) {
    const Template& t = templates_[template_of_[i++]];
    runs += t.end - t.begin;
  }
  return i - example_;
}

bool BlockDecoder::next(text::ExampleChunk& chunk, std::size_t features) {
  if (!left_) return false;
  const std::uint64_t first_line = line_;
  std::size_t runs;
  const std::size_t count = count_examples(features, runs);
  // Arrays keep the length of their last use, so that growing them costs no clearing.
  chunk.bytes.clear();
  chunk.names.clear();
  chunk.source = source_;
  chunk.name_limit = names_.size();
  chunk.examples.resize(count);
  chunk.runs.resize(runs);
  if (chunk.features.size() < runs) chunk.features.resize(runs);
  run_at_ = feature_at_ = 0;
  decode(count);
  const std::size_t tags_begin = tag_begin_;
  for (std::size_t i = 0; i < count; ++i) {
    const Template& t = templates_[template_of_[example_]];
    put_example(example_, chunk.examples[i]);
    chunk.examples[i].tag_begin -= static_cast<std::uint32_t>(tags_begin);
    chunk.examples[i].runs_begin = static_cast<std::uint32_t>(run_at_);
    if (t.plain) {
      put_plain_runs(t, chunk);
    } else {
      put_runs(t, chunk);
    }
    chunk.examples[i].runs_end = static_cast<std::uint32_t>(run_at_);
    ++example_;
  }
  chunk.features.resize(feature_at_);
  chunk.bytes.assign(tags_, tags_begin, tag_begin_ - tags_begin);
  put_left_out(first_line, chunk);
  return true;
}

/// Ends a chunk that began with this line.
void BlockDecoder::put_left_out(std::uint64_t first_line, text::ExampleChunk& chunk) {
  if (example_ == template_of_.size()) {
    left_ = false;
    if (gap_ < gap_at_.size()) line_ += gap_size_[gap_++];  // after the last example
  }
  chunk.bad.clear();
  for (; bad_ < bad_at_.size() && first_line_ + bad_at_[bad_] < line_; ++bad_) {
    chunk.bad.push_back({.line = first_line_ + bad_at_[bad_],
                         .text_begin = 0,
                         .text_size = 0,
                         .column = 0,
                         .what = stream::kBadInCache});
  }
  chunk.first_line = first_line;
  chunk.blank_lines = line_ - first_line - chunk.examples.size() - chunk.bad.size();
  chunk.place = {.block = 0, .part = part_++, .last = !left_};
}

void BlockDecoder::put_example(std::size_t i, text::Example& out) {
  static constexpr float kLabels[] = {0, 1, -1, 0};
  const char kind = kinds_[i];
  if (gap_ < gap_at_.size() && gap_at_[gap_] == i) line_ += gap_size_[gap_++];
  out.line = line_++;
  out.label = (kind & 3) == 3 ? labels_[label_++] : kLabels[kind & 3];
  out.importance = kind & 4 ? importances_[importance_++] : 1;
  out.initial = kind & 8 ? initials_[initial_++] : 0;
  out.shared = false;
  out.tag_begin = static_cast<std::uint32_t>(tag_begin_);
  out.tag_size = kind & 16 ? tag_sizes_[tag_++] : 0;
  tag_begin_ += out.tag_size;
}

void BlockDecoder::put_plain_runs(const Template& t, text::ExampleChunk& chunk) {
  const std::size_t runs = t.end - t.begin;
  if (chunk.features.size() < feature_at_ + runs) {
    chunk.features.resize(2 * (feature_at_ + runs));
  }
  const std::uint32_t* column = run_columns_.data() + t.begin;
  const std::uint32_t* const end = column + runs;
  const Name* names = names_of_.data();
  const std::uint32_t** hashes = hashes_.data();
  text::NamespaceRun* run = chunk.runs.data() + run_at_;
  text::Feature* feature = chunk.features.data() + feature_at_;
  std::uint64_t place = two_words(static_cast<std::uint32_t>(feature_at_),
                                  static_cast<std::uint32_t>(feature_at_ + 1));
  for (; column != end; ++column, ++run, ++feature, place += two_words(1, 1)) {
    const std::uint64_t one = two_words(*hashes[*column]++, std::bit_cast<std::uint32_t>(1.0f));
    std::memcpy(run, &names[*column], sizeof *names);
    std::memcpy(&run->begin, &place, sizeof place);
    std::memcpy(feature, &one, sizeof one);
  }
  run_at_ += runs;
  feature_at_ += runs;
}

void BlockDecoder::put_runs(const Template& t, text::ExampleChunk& chunk) {
  for (std::uint32_t r = t.begin; r < t.end; ++r) {
    Column& column = columns_[run_columns_[r]];
    const std::uint32_t*& hashes = hashes_[run_columns_[r]];
    const std::uint32_t count = column.one_each ? 1 : *column.next_count++;
    const auto at = static_cast<std::uint32_t>(feature_at_);
    const Name& name = names_of_[run_columns_[r]];
    chunk.runs[run_at_++] = {name.name, name.hash, at, at + count};
    if (chunk.features.size() < feature_at_ + count) {
      chunk.features.resize(2 * (feature_at_ + count));
    }
    text::Feature* feature = chunk.features.data() + feature_at_;
    for (std::uint32_t f = 0; f < count; ++f) {
      feature[f] = {hashes[f], column.all_ones ? 1 : std::bit_cast<float>(column.next_value[f])};
    }
    hashes += count;
    if (!column.all_ones) column.next_value += count;
    feature_at_ += count;
  }
}

}  // namespace leveret::cache
