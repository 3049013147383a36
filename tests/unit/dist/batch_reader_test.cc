#include "dist/learn/batch_reader.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../train/train_run.h"
#include "dist/learn/batch_message.h"
#include "model/random_lines.h"

namespace leveret::dist {
namespace {

/// Lines in chunks of `per_chunk`, and then, where `error` is one, an error.
class LinesInChunks final : public stream::ExampleSource {
 public:
  LinesInChunks(text::NamespaceNames& names, std::string lines, std::size_t per_chunk,
                std::string error = {})
      : names_(names), lines_(std::move(lines)), per_chunk_(per_chunk), error_(std::move(error)) {}

  bool next(text::ExampleChunk& chunk) override {
    if (at_ == lines_.size()) {
      if (!error_.empty()) throw std::runtime_error(error_);
      return false;
    }
    std::size_t end = at_;
    for (std::size_t i = 0; i < per_chunk_ && end < lines_.size(); ++i) {
      end = lines_.find('\n', end) + 1;
    }
    chunk = train::parse(names_, lines_.substr(at_, end - at_));
    at_ = end;
    return true;
  }
  void stop() noexcept override {}
  const std::string& source_name(std::uint32_t) const override { return lines_; }
  std::uint64_t bytes_read() const override { return at_; }
  std::optional<std::uint64_t> bytes_total() const override { return {}; }

 private:
  text::NamespaceNames& names_;
  const std::string lines_;
  const std::size_t per_chunk_;
  const std::string error_;
  std::size_t at_ = 0;
};

constexpr unsigned kRanks = 3;
constexpr std::size_t kBatch = 20;

/// What a run's batches are, read to the end.
struct Read {
  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> ends;
  std::vector<std::uint64_t> stretches;  ///< ends of these
  std::string checksum;                  ///< of all examples
  std::vector<float> labels;             ///< of rank 0's first shard, batch by batch
  /// Features of fields with a cell, over all ranks: each has one home.
  std::size_t cells = 0;
  bool expects_stretch = true;
  std::string error;
  std::string unfinished;  ///< what check_end says
};

std::size_t cells_of(std::span<const PartBatch> parts) {
  std::size_t cells = 0;
  for (const PartBatch& part : parts) {
    cells += static_cast<std::size_t>(std::ranges::count_if(
        part.features.field_features,
        [](const feature::FieldFeature& f) { return f.linear != feature::kLinearElsewhere; }));
  }
  return cells;
}

void add(const ScatterBatch& batch, Split split, Read& all) {
  all.sizes.push_back(batch.outcomes.items.size());
  all.ends.push_back(batch.end.examples);
  if (batch.ends_stretch) all.stretches.push_back(batch.end.examples);
  CHECK(batch.begins_stretch == (all.expects_stretch));
  all.expects_stretch = batch.ends_stretch;
  all.checksum = batch.end.checksum;
  REQUIRE(batch.messages.size() == kRanks);
  CHECK(batch.messages[0].empty());
  std::size_t examples = batch.parts.at(0).size();
  all.labels.insert(all.labels.end(), batch.parts[0].features.label.begin(),
                    batch.parts[0].features.label.end());
  all.cells += cells_of(batch.parts);
  BatchMessage message;
  for (unsigned rank = 1; rank < kRanks; ++rank) {
    decode(batch.messages[rank], message);
    CHECK(message.kind == BatchMessage::Kind::kBatch);
    CHECK(message.examples == all.sizes.back());
    examples += message.parts.at(0).size();
    all.cells += cells_of(message.parts);
  }
  CHECK(examples == all.sizes.back() * (split == Split::kFeatures ? kRanks : 1));
}

Read read(const std::string& lines, Split split, std::size_t per_chunk,
          const train::InputPosition& start = {}, const std::string& error = {},
          std::uint32_t warmup = 0) {
  spec::Spec spec;
  spec.batch_size = kBatch;
  spec.batch_warmup = warmup;
  spec.nn_batch_size = 1;
  text::NamespaceNames names;
  const model::Model model(spec, train::kTestMemory);
  Plan plan(
      PlanShape::of(spec, model.config(), split == Split::kFeatures ? kRanks : std::uint32_t{1}));
  BatchMaker maker(spec, model.features().plans(), plan.fields(), names, {start.examples});
  LinesInChunks source(names, lines, per_chunk, error);
  Read all;
  BatchReader reader(source, maker, plan, split, kRanks, start,
                     [](const text::ExampleChunk&, std::uint64_t) { return 7; });
  ScatterBatch batch;
  try {
    while (reader.next(batch)) {
      CHECK(batch.bad_lines == 7);
      add(batch, split, all);
    }
    reader.check_end();
  } catch (const std::runtime_error& caught) {
    (batch.end.examples == 0 || error.empty() ? all.unfinished : all.error) = caught.what();
  }
  return all;
}

std::string some_lines(std::size_t count) { return model::random_lines(count, {.fields = 5}, 5); }

TEST_CASE("batches are cut by count, whatever chunks the input comes in", "[threads]") {
  const std::string lines = some_lines(90);
  text::NamespaceNames names;
  const std::vector<text::Example> parsed = train::parse(names, lines).examples;
  const Split split = GENERATE(Split::kFeatures, Split::kExamples);
  std::optional<Read> first;
  for (const std::size_t per_chunk : {90, 20, 7, 1}) {
    INFO(per_chunk);
    const Read all = read(lines, split, per_chunk);
    CHECK(all.error == "");
    CHECK(all.unfinished == "");
    CHECK(all.sizes == std::vector<std::size_t>{20, 20, 20, 20, 10});
    CHECK(all.ends == std::vector<std::uint64_t>{20, 40, 60, 80, 90});
    CHECK(all.cells > 0);
    if (!first) first = all;
    CHECK(all.checksum == first->checksum);
    CHECK(all.labels == first->labels);
    CHECK(all.cells == first->cells);
    if (split == Split::kFeatures) {
      REQUIRE(all.labels.size() == parsed.size());
      for (std::size_t i = 0; i < parsed.size(); ++i) CHECK(all.labels[i] == parsed[i].label);
    }
  }
}

TEST_CASE("batches grow, and a run can be cut where a stretch ends", "[threads]") {
  const std::string lines = some_lines(90);
  std::optional<Read> first;
  for (const std::size_t per_chunk : {90, 7, 1}) {
    const Read all = read(lines, Split::kFeatures, per_chunk, {}, {}, 2);
    CHECK(all.sizes == std::vector<std::size_t>{1, 1, 1, 1, 2, 3, 4, 6, 1, 10, 10, 20, 20, 10});
    CHECK(all.stretches == std::vector<std::uint64_t>{20, 40, 60, 80, 90});
    if (!first) first = all;
    CHECK(all.checksum == first->checksum);
    CHECK(all.labels == first->labels);
  }
  train::InputPosition start;
  start.examples = 20;
  start.checksum = read(some_lines(20), Split::kFeatures, 8).checksum;
  const Read rest = read(lines, Split::kFeatures, 8, start, {}, 2);
  CHECK(rest.sizes == std::vector<std::size_t>{10, 10, 20, 20, 10});
  CHECK(rest.checksum == first->checksum);
}

TEST_CASE("what a stretch brings is told with its batch, and planned by all of it", "[threads]") {
  spec::Spec spec;
  spec.batch_size = 8;
  spec.batch_warmup = 2;
  text::NamespaceNames names;
  BatchMaker maker(spec, {}, 0, names);
  const text::ExampleChunk chunk = train::parse(
      names, "1 |a x\n1 |a y\n1 |a x |b z\n|a x\n1 |c x\n1 |a x\n1 |a z\n1 |a x\n1 |d x\n");
  std::size_t next = 0;
  while (!maker.full()) next += maker.take(chunk, next, chunk.examples.size() - next);
  // The fourth one has no label: after it three are learned, and the next batch has one example.
  std::vector<std::size_t> sizes, namespaces, fields;
  std::vector<std::uint64_t> features;
  while (maker.next()) {
    const Growth growth = maker.growth();
    sizes.push_back(maker.size());
    namespaces.push_back(growth.namespaces.size());
    fields.push_back(growth.fields.size());
    for (const FieldSize& size : growth.sizes) features.push_back(size.features);
  }
  CHECK(next == std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  CHECK(sizes == std::vector<std::size_t>{1, 1, 1, 1, 1, 2, 2});
  CHECK(namespaces == std::vector<std::size_t>{1, 0, 1, 0, 1, 0, 1});
  CHECK(fields == namespaces);
  // a is told by its first batch of one feature, and has three in the stretch.
  REQUIRE(features.size() == 4);
  CHECK(features[0] >= 3);
}

TEST_CASE("every feature's cell is with one rank, whoever gets examples or fields", "[threads]") {
  const std::string lines = some_lines(90);
  CHECK(read(lines, Split::kFeatures, 90).cells == read(lines, Split::kExamples, 90).cells);
}

TEST_CASE("a reader begins where a run has ended, and says so where the input is shorter",
          "[threads]") {
  const std::string lines = some_lines(90);
  const Read whole = read(lines, Split::kFeatures, 8);
  const Read half = read(some_lines(40), Split::kFeatures, 8);
  train::InputPosition start;
  start.examples = half.ends.back();
  start.checksum = half.checksum;
  const Read rest = read(lines, Split::kFeatures, 8, start);
  CHECK(rest.sizes == std::vector<std::size_t>{20, 20, 10});
  CHECK(rest.ends == std::vector<std::uint64_t>{60, 80, 90});
  CHECK(rest.checksum == whole.checksum);
  CHECK(rest.unfinished == "");

  const Read shorter = read(some_lines(30), Split::kFeatures, 8, start);
  CHECK(shorter.sizes.empty());
  CHECK(shorter.unfinished != "");
}

TEST_CASE("an error of the input comes behind the batches before it", "[threads]") {
  const Read all = read(some_lines(50), Split::kFeatures, 8, {}, "the disk is gone");
  CHECK(all.sizes == std::vector<std::size_t>{20, 20});
  CHECK(all.error == "the disk is gone");
}

TEST_CASE("a reader that nobody reads from any more ends", "[threads]") {
  spec::Spec spec;
  spec.batch_size = 2;
  spec.batch_warmup = 0;
  spec.nn_batch_size = 1;
  text::NamespaceNames names;
  const model::Model model(spec, train::kTestMemory);
  Plan plan(PlanShape::of(spec, model.config(), kRanks));
  BatchMaker maker(spec, model.features().plans(), plan.fields(), names);
  LinesInChunks source(names, some_lines(50), 8);
  BatchReader reader(source, maker, plan, Split::kFeatures, kRanks, {},
                     [](const text::ExampleChunk&, std::uint64_t) { return 0; });
  ScatterBatch batch;
  CHECK(reader.next(batch));
}

}  // namespace
}  // namespace leveret::dist
