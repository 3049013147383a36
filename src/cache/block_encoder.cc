#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "cache/cache_block.h"
#include "cache/cache_checksum.h"
#include "files/bytes.h"

namespace leveret::cache {
namespace {

/// Features and runs of an example; what bounds a block.
std::size_t weight_of(const text::ExampleChunk& chunk, const text::Example& example) {
  std::size_t features = 0;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    features += chunk.runs[r].end - chunk.runs[r].begin;
  }
  return std::max<std::size_t>(features, example.runs_end - example.runs_begin);
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

constexpr std::uint32_t kNoColumn = ~0u;
constexpr std::uint32_t kOne = std::bit_cast<std::uint32_t>(1.0f);

}  // namespace

std::size_t BlockEncoder::VectorHash::operator()(const std::vector<std::uint32_t>& v) const {
  return cache_checksum({reinterpret_cast<const char*>(v.data()), v.size() * sizeof v[0]});
}

bool BlockEncoder::add(const text::ExampleChunk& chunk, At& at) {
  if (at.line == 0) at.line = chunk.first_line;
  if (empty()) {
    source_ = chunk.source;
    first_line_ = next_line_ = at.line;
  }
  if (chunk.source != source_ || at.line != next_line_) return false;
  bool room = true;
  while (room && (at.example < chunk.examples.size() || at.bad < chunk.bad.size())) {
    room = add_next(chunk, at);
  }
  room = room && pass_to(chunk.first_line + chunk.lines());
  at.line = next_line_;
  return room;
}

/// The next line that is not blank, and the blank ones before it.
bool BlockEncoder::add_next(const text::ExampleChunk& chunk, At& at) {
  const bool is_bad =
      at.bad < chunk.bad.size() && (at.example == chunk.examples.size() ||
                                    chunk.bad[at.bad].line < chunk.examples[at.example].line);
  if (is_bad) {
    if (!pass_to(chunk.bad[at.bad].line) || !leave_out(1)) return false;
    bad_at_.push_back(static_cast<std::uint32_t>(next_line_ - 1 - first_line_));
    ++at.bad;
    return true;
  }
  const text::Example& example = chunk.examples[at.example];
  if (!pass_to(example.line) || !has_room(chunk, example)) return false;
  add_example(chunk, example);
  ++at.example;
  return true;
}

/// Leaves out the lines before this one; false when the block has no room for all of them.
bool BlockEncoder::pass_to(std::uint64_t line) {
  return line == next_line_ || leave_out(line - next_line_);
}

/// Leaves out the next lines; false when only the first of them have room.
bool BlockEncoder::leave_out(std::uint64_t lines) {
  const std::uint64_t fitting = std::min<std::uint64_t>(lines, kBlockLeftOut - left_out_);
  if (fitting == 0) return false;
  if (gap_at_.empty() || gap_at_.back() != kinds_.size()) {
    gap_at_.push_back(static_cast<std::uint32_t>(kinds_.size()));
    gap_size_.push_back(0);
  }
  gap_size_.back() += static_cast<std::uint32_t>(fitting);
  left_out_ += fitting;
  next_line_ += fitting;
  return fitting == lines;
}

/// Whether the example is within the limits of this block.
bool BlockEncoder::has_room(const text::ExampleChunk& chunk, const text::Example& example) const {
  if (kinds_.empty()) return true;
  if (kinds_.size() >= kWrittenExamples) return false;
  return std::max(features_, runs_) + weight_of(chunk, example) <= kBlockFeatures &&
         tags_.size() + example.tag_size <= kBlockFeatures;
}

void BlockEncoder::add_example(const text::ExampleChunk& chunk, const text::Example& example) {
  if (weight_of(chunk, example) > kMaxExampleFeatures || example.tag_size > kMaxExampleFeatures) {
    throw std::runtime_error("line " + std::to_string(example.line) +
                             " is too long for the cache; skip it by a smaller --max_line, or use "
                             "no cache");
  }
  add_meta(chunk, example);
  run_columns_.clear();
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    run_columns_.push_back(column_of(run));
    add_run(chunk, run, columns_[run_columns_.back()]);
  }
  runs_ += run_columns_.size();
  const auto [found, is_new] =
      template_ids_.try_emplace(run_columns_, static_cast<std::uint32_t>(templates_.size()));
  if (is_new) templates_.push_back(run_columns_);
  template_of_.push_back(found->second);
}

void BlockEncoder::add_meta(const text::ExampleChunk& chunk, const text::Example& example) {
  ++next_line_;
  unsigned kind = 3;
  if (bits_of(example.label) == 0) kind = 0;
  if (example.label == 1) kind = 1;
  if (example.label == -1) kind = 2;
  if (kind == 3) labels_.push_back(example.label);
  if (bits_of(example.importance) != kOne) {
    kind |= 4;
    importances_.push_back(example.importance);
  }
  if (bits_of(example.initial) != 0) {
    kind |= 8;
    initials_.push_back(example.initial);
  }
  if (example.tag_size > 0) {
    kind |= 16;
    tag_sizes_.push_back(example.tag_size);
    tags_ += chunk.view(example.tag_begin, example.tag_size);
  }
  kinds_ += static_cast<char>(kind);
}

std::uint32_t BlockEncoder::column_of(const text::NamespaceRun& run) {
  if (run.name >= column_of_name_.size()) column_of_name_.resize(run.name + 1, kNoColumn);
  std::uint32_t& c = column_of_name_[run.name];
  // One name has one hash in a stream; were it not so, a column more would hold the other.
  if (c == kNoColumn || columns_[c].hash != run.hash) {
    c = static_cast<std::uint32_t>(columns_used_);
    if (columns_used_ == columns_.size()) columns_.emplace_back();
    Column& column = columns_[columns_used_++];
    column.name = run.name;
    column.hash = run.hash;
  }
  return c;
}

void BlockEncoder::add_run(const text::ExampleChunk& chunk, const text::NamespaceRun& run,
                           Column& column) {
  const std::uint32_t count = run.end - run.begin;
  if (count != 1 && !column.counts_differ) {
    column.counts_differ = true;
    column.counts.assign(column.runs, 1);
  }
  if (column.counts_differ) column.counts.push_back(count);
  ++column.runs;
  for (std::uint32_t f = run.begin; f < run.end; ++f) {
    const std::uint32_t value = bits_of(chunk.features[f].value);
    if (value != kOne && !column.values_differ) {
      column.values_differ = true;
      column.values.assign(column.hashes.size(), kOne);
    }
    if (column.values_differ) column.values.push_back(value);
    column.hashes.push_back(chunk.features[f].hash);
  }
  features_ += count;
}

void BlockEncoder::finish(std::string& to) {
  files::put(to, static_cast<std::uint32_t>(kinds_.size()));
  files::put(to, source_);
  files::put(to, first_line_);
  files::put(to, static_cast<std::uint32_t>(columns_used_));
  for (std::size_t c = 0; c < columns_used_; ++c) {
    files::put(to, columns_[c].hash);
    files::put_text(to, names_.name(columns_[c].name));
  }
  files::put(to, static_cast<std::uint32_t>(templates_.size()));
  for (const std::vector<std::uint32_t>& of_runs : templates_) {
    files::put(to, static_cast<std::uint32_t>(of_runs.size()));
    files::put_array(to, of_runs.data(), of_runs.size());
  }
  put_meta(to);
  put_columns(to);
  clear();
}

void BlockEncoder::put_meta(std::string& to) {
  column_encoder_.encode(template_of_, to);
  to += kinds_;
  files::put(to, static_cast<std::uint32_t>(gap_at_.size()));
  files::put_array(to, gap_at_.data(), gap_at_.size());
  files::put_array(to, gap_size_.data(), gap_size_.size());
  files::put(to, static_cast<std::uint32_t>(bad_at_.size()));
  files::put_array(to, bad_at_.data(), bad_at_.size());
  files::put_array(to, labels_.data(), labels_.size());
  files::put_array(to, importances_.data(), importances_.size());
  files::put_array(to, initials_.data(), initials_.size());
  files::put_array(to, tag_sizes_.data(), tag_sizes_.size());
  files::put_text(to, tags_);
}

void BlockEncoder::put_columns(std::string& to) {
  for (std::size_t c = 0; c < columns_used_; ++c) {
    const Column& column = columns_[c];
    files::put<std::uint8_t>(to, (column.counts_differ ? 1 : 0) | (column.values_differ ? 2 : 0));
    if (column.counts_differ) {
      files::put(to, static_cast<std::uint32_t>(column.hashes.size()));
      column_encoder_.encode(column.counts, to);
    }
    column_encoder_.encode(column.hashes, to);
    if (column.values_differ) column_encoder_.encode(column.values, to);
  }
}

void BlockEncoder::clear() {
  for (std::size_t c = 0; c < columns_used_; ++c) {
    Column& column = columns_[c];
    column.runs = 0;
    column.counts_differ = column.values_differ = false;
    column_of_name_[column.name] = kNoColumn;
    column.counts.clear();
    column.hashes.clear();
    column.values.clear();
  }
  columns_used_ = 0;
  template_ids_.clear();
  templates_.clear();
  template_of_.clear();
  kinds_.clear();
  tags_.clear();
  gap_at_.clear();
  gap_size_.clear();
  bad_at_.clear();
  labels_.clear();
  importances_.clear();
  initials_.clear();
  tag_sizes_.clear();
  features_ = runs_ = left_out_ = 0;
}

}  // namespace leveret::cache
