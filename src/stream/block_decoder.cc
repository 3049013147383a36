#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "stream/cache_block.h"

namespace leveret::stream {
namespace {

template <typename T>
void get_array(BytesReader& from, std::size_t count, std::vector<T>& to) {
  const std::string_view bytes = from.take_array(count, sizeof(T));
  to.resize(count);
  if (count > 0) std::memcpy(to.data(), bytes.data(), bytes.size());
}

// Runs and features of plain examples are written in words of eight bytes: a store of each number
// would take twice the time.
static_assert(offsetof(text::NamespaceRun, name) == 0 && offsetof(text::Feature, hash) == 0 &&
              offsetof(text::NamespaceRun, hash) == 4 && offsetof(text::NamespaceRun, begin) == 8 &&
              offsetof(text::NamespaceRun, end) == 12 && offsetof(text::Feature, value) == 4);
constexpr std::uint64_t two_words(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t{second} << 32 | first;
}

}  // namespace

void BlockDecoder::start(std::string_view bytes) {
  example_ = gap_ = label_ = importance_ = initial_ = tag_ = tag_begin_ = 0;
  template_of_.clear();  // nothing is left to hand out if this throws
  BytesReader from(bytes);
  const auto examples = from.get<std::uint32_t>();
  from.check(examples > 0 && examples <= kBlockExamples, "its number of examples is out of range");
  source_ = from.get<std::uint32_t>();
  line_ = from.get<std::uint64_t>();
  try {
    read_columns_and_templates(from);
    read_examples(from, examples);
    read_features(from);
    from.check(from.empty(), "it is longer than what it says to hold");
  } catch (...) {
    template_of_.clear();
    throw;
  }
}

void BlockDecoder::read_columns_and_templates(BytesReader& from) {
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

void BlockDecoder::read_examples(BytesReader& from, std::uint32_t examples) {
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
  decodes_ahead_ = true;
  for (Template& t : templates_) {
    const std::uint32_t uses = std::exchange(t.uses, 0);
    for (std::uint32_t r = t.begin; r < t.end; ++r) {
      Column& column = columns_[run_columns_[r]];
      column.runs += uses;
      decodes_ahead_ &= column.last_template != &t;
      column.last_template = &t;
    }
  }
  // What is done for each column is done for each chunk.
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
  const auto gaps = from.get_count(12);
  get_array(from, gaps, gap_at_);
  get_array(from, gaps, gap_size_);
  from.check(
      std::adjacent_find(gap_at_.begin(), gap_at_.end(), std::greater_equal<>()) == gap_at_.end(),
      "its line numbers are not in order");
  get_array(from, labels, labels_);
  get_array(from, importances, importances_);
  get_array(from, initials, initials_);
  get_array(from, tags, tag_sizes_);
  tags_ = from.get_text();
  from.check(
      std::accumulate(tag_sizes_.begin(), tag_sizes_.end(), std::uint64_t{0}) == tags_.size(),
      "its tags have another size than they say");
}

void BlockDecoder::read_features(BytesReader& from) {
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
    column.undecoded = column.runs;
  }
  hashes_.assign(columns_.size(), nullptr);
  for (Template& t : templates_) {
    t.plain = std::all_of(run_columns_.begin() + t.begin, run_columns_.begin() + t.end,
                          [this](std::uint32_t c) { return columns_[c].plain(); });
    // Each column is one of some template.
    decodes_ahead_ &= t.plain;
  }
}

/// Takes the counts of a column that has so many features, and checks that they say so.
void BlockDecoder::read_counts(BytesReader& from, std::size_t features, Column& column) {
  column.counts = PackedColumn(from, column.runs);
  if (counts_.size() < column.runs) counts_.resize(column.runs);
  PackedColumn(column.counts).next(column.runs, counts_.data());
  from.check(
      std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(column.runs),
                      std::uint64_t{0}) == features,
      "a column has another number of features than its runs");
}

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
  if (decodes_ahead_) return decode_ahead(examples);
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

/// Of each column, makes it as many hashes as there are examples, and leaves the last ones for the
/// examples after these, where some have none of it: counting what they have takes longer.
void BlockDecoder::decode_ahead(std::size_t examples) {
  const auto wanted = [&](std::size_t c) {
    return std::min(examples - std::min(left_of(c), examples), columns_[c].undecoded);
  };
  std::size_t places = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) places += left_of(c) + wanted(c);
  values_.swap(values_before_);
  if (values_.size() < places) values_.resize(places);
  std::uint32_t* to = values_.data();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (c + kColumnsAhead < columns_.size()) columns_[c + kColumnsAhead].hashes.prefetch(examples);
    const std::size_t left = left_of(c), more = wanted(c);
    std::copy_n(hashes_[c], left, to);
    hashes_[c] = to;
    to += left;
    column.hashes.next(more, to);
    column.undecoded -= more;
    to += more;
    column.decoded_end = to;
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
  if (example_ == template_of_.size()) return false;
  std::size_t runs;
  const std::size_t count = count_examples(features, runs);
  // Arrays keep the length of their last use, so that growing them costs no clearing.
  chunk.bytes.clear();
  chunk.names.clear();
  chunk.bad.clear();
  chunk.blank_lines = 0;
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
  chunk.first_line = chunk.examples[0].line;
  return true;
}

void BlockDecoder::put_example(std::size_t i, text::Example& out) {
  static constexpr float kLabels[] = {0, 1, -1, 0};
  const char kind = kinds_[i];
  if (gap_ < gap_at_.size() && gap_at_[gap_] == i) line_ += gap_size_[gap_++];
  out.line = line_++;
  out.label = (kind & 3) == 3 ? labels_[label_++] : kLabels[kind & 3];
  out.importance = kind & 4 ? importances_[importance_++] : 1;
  out.initial = kind & 8 ? initials_[initial_++] : 0;
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

}  // namespace leveret::stream
