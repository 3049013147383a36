/// Takes a block apart and checks it. What is then handed out is trusted.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "cache/cache_block.h"
#include "files/bytes.h"

namespace leveret::cache {
namespace {

/// Far from where adding to one would wrap it around.
constexpr std::uint64_t kMaxLineNumber = std::uint64_t{1} << 62;

}  // namespace

void BlockDecoder::start(std::string_view bytes) {
  part_ = 0;
  example_ = gap_ = bad_ = label_ = importance_ = initial_ = tag_ = tag_begin_ = 0;
  left_ = false;  // unless this ends well
  files::BytesReader from(bytes);
  const auto examples = from.get<std::uint32_t>();
  from.check(examples <= kBlockExamples, "its number of examples is out of range");
  source_ = from.get<std::uint32_t>();
  first_line_ = line_ = from.get<std::uint64_t>();
  from.check(line_ > 0 && line_ <= kMaxLineNumber, "its line numbers are out of range");
  read_columns_and_templates(from);
  read_examples(from, examples);
  read_features(from);
  from.check(from.empty(), "it is longer than what it says to hold");
  left_ = true;
}

void BlockDecoder::read_columns_and_templates(files::BytesReader& from) {
  columns_.resize(from.get_count(8));
  names_of_.resize(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c] = {};
    const auto hash = from.get<std::uint32_t>();
    const auto name = names_.intern(from.get_text());
    from.check(name.has_value(), "it has more namespaces than a run may have");
    names_of_[c] = {*name, hash};
  }
  templates_.resize(from.get_count(4));
  run_columns_.clear();
  for (Template& t : templates_) {
    t.uses = 0;
    t.begin = static_cast<std::uint32_t>(run_columns_.size());
    t.end = t.begin + from.get_count(4);
    run_columns_.resize(t.end);
    const std::string_view numbers = from.take_array(t.end - t.begin, 4);
    if (!numbers.empty()) std::memcpy(&run_columns_[t.begin], numbers.data(), numbers.size());
  }
  const std::size_t columns = columns_.size();
  from.check(std::all_of(run_columns_.begin(), run_columns_.end(),
                         [columns](std::uint32_t c) { return c < columns; }),
             "a column number is out of range");
}

void BlockDecoder::read_examples(files::BytesReader& from, std::uint32_t examples) {
  template_of_.resize(examples);
  decode_column(from, examples, template_of_.data());
  runs_ = 0;
  for (const std::uint32_t t : template_of_) {
    from.check(t < templates_.size(), "a template number is out of range");
    runs_ += templates_[t].end - templates_[t].begin;
    ++templates_[t].uses;
  }
  // Before anything is done for each run.
  from.check(runs_ <= (examples > 1 ? kBlockFeatures : kMaxExampleFeatures),
             "it has too many runs");
  for (Template& t : templates_) {
    const std::uint32_t uses = std::exchange(t.uses, 0);
    for (std::uint32_t r = t.begin; r < t.end; ++r) {
      Column& column = columns_[run_columns_[r]];
      column.runs += uses;
    }
  }
  // Work for each column is done for each chunk.
  from.check(std::all_of(columns_.begin(), columns_.end(),
                         [](const Column& column) { return column.runs > 0; }),
             "a column belongs to no example");
  kinds_ = from.take(examples);
  std::size_t labels = 0, importances = 0, initials = 0, tags = 0;
  for (const char kind : kinds_) {
    from.check(static_cast<unsigned char>(kind) < 32, "an example is of an unknown kind");
    labels += (kind & 3) == 3;
    importances += (kind & 4) != 0;
    initials += (kind & 8) != 0;
    tags += (kind & 16) != 0;
  }
  read_left_out(from, examples);
  from.get_array(labels, labels_);
  from.get_array(importances, importances_);
  from.get_array(initials, initials_);
  from.get_array(tags, tag_sizes_);
  tags_ = from.get_text();
  from.check(
      std::accumulate(tag_sizes_.begin(), tag_sizes_.end(), std::uint64_t{0}) == tags_.size(),
      "its tags have another size than they say");
}

void BlockDecoder::read_left_out(files::BytesReader& from, std::uint32_t examples) {
  const auto gaps = from.get_count(8);
  from.get_array(gaps, gap_at_);
  from.get_array(gaps, gap_size_);
  from.get_array(from.get_count(4), bad_at_);
  from.check(
      std::adjacent_find(gap_at_.begin(), gap_at_.end(), std::greater_equal<>()) == gap_at_.end() &&
          std::adjacent_find(bad_at_.begin(), bad_at_.end(), std::greater_equal<>()) ==
              bad_at_.end() &&
          (gaps == 0 || gap_at_.back() <= examples),
      "its line numbers are not in order");
  const auto left_out = std::accumulate(gap_size_.begin(), gap_size_.end(), std::uint64_t{0});
  from.check(left_out <= kBlockLeftOut, "it leaves out too many lines");
  left_out_ = left_out;
  from.check(examples > 0 || left_out > 0, "it holds nothing");
  std::size_t before = 0, bad = 0;
  for (std::size_t g = 0; g < gaps; ++g) {
    const std::size_t begin = gap_at_[g] + before, end = begin + gap_size_[g];
    while (bad < bad_at_.size() && bad_at_[bad] >= begin && bad_at_[bad] < end) ++bad;
    before += gap_size_[g];
  }
  from.check(bad == bad_at_.size(), "a bad line is none of those it leaves out");
}

void BlockDecoder::read_features(files::BytesReader& from) {
  const std::size_t limit = examples() > 1 ? kBlockFeatures : kMaxExampleFeatures;
  features_ = 0;
  for (Column& column : columns_) {
    const auto flags = from.get<std::uint8_t>();
    from.check(flags < 4, "a column has unknown flags");
    column.one_each = !(flags & 1);
    column.all_ones = !(flags & 2);
    const std::size_t features = column.one_each ? column.runs : from.get<std::uint32_t>();
    features_ += features;
    from.check(features_ <= limit, "it has too many features");
    if (!column.one_each) read_counts(from, features, column);
    column.hashes = PackedColumn(from, features);
    if (!column.all_ones) column.values = PackedColumn(from, features);
  }
  hashes_.assign(columns_.size(), nullptr);
  for (Template& t : templates_) {
    t.plain = std::all_of(run_columns_.begin() + t.begin, run_columns_.begin() + t.end,
                          [this](std::uint32_t c) { return columns_[c].plain(); });
  }
}

/// Takes the counts of a column that has so many features, and checks that they say so.
void BlockDecoder::read_counts(files::BytesReader& from, std::size_t features, Column& column) {
  column.counts = PackedColumn(from, column.runs);
  if (counts_.size() < column.runs) counts_.resize(column.runs);
  PackedColumn(column.counts).next(column.runs, counts_.data());
  from.check(
      std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(column.runs),
                      std::uint64_t{0}) == features,
      "a column has another number of features than its runs");
}

}  // namespace leveret::cache
