#include "dist/learn/batch_message.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dist/learn/batch_maker.h"
#include "model/random_lines.h"
#include "model/specs_to_test.h"
#include "text/parser.h"

namespace leveret::dist {
namespace {

using feature::FeatureBatch;

bool equal(const FeatureBatch& a, const FeatureBatch& b) {
  const auto runs = [](const auto& x, const auto& y, auto number) {
    return std::ranges::equal(x, y, [&](const auto& r, const auto& s) {
      return r.*number == s.*number && r.begin == s.begin && r.end == s.end;
    });
  };
  const auto features = [](const auto& f, const auto& g) {
    return f.hash == g.hash && f.value == g.value;
  };
  const auto lengths = [](const FeatureBatch& batch) {
    std::vector<std::size_t> all;
    for (const feature::LinearRun& run : batch.linear_runs) all.push_back(batch.length(run));
    return all;
  };
  return lengths(a) == lengths(b) && a.label == b.label && a.importance == b.importance &&
         a.initial == b.initial && a.groups == b.groups &&
         std::ranges::equal(a.linear, b.linear, features) &&
         runs(a.linear_runs, b.linear_runs, &feature::LinearRun::group) &&
         a.linear_runs_begin == b.linear_runs_begin &&
         std::ranges::equal(a.field_features, b.field_features,
                            [&](const auto& f, const auto& g) {
                              return features(f, g) && f.linear == g.linear;
                            }) &&
         a.field_features_begin == b.field_features_begin && a.numbers == b.numbers &&
         runs(a.runs, b.runs, &feature::FieldRun::field) && a.runs_begin == b.runs_begin;
}

bool equal(const PartBatch& a, const PartBatch& b) {
  return equal(a.features, b.features) && a.instance_features == b.instance_features &&
         a.instance_squares == b.instance_squares;
}

/// Batches of some lines, cut for shards.
class Cutting {
 public:
  Cutting(spec::Spec spec, const std::string& lines, std::uint32_t shards) {
    spec.batch_size = 50;
    spec.batch_warmup = 0;
    spec.nn_batch_size = 1;
    chunk_.bytes = lines;
    text::Parser(names_, model::reading_numbers(spec)).parse(chunk_);
    const model::Model model(spec, std::uint64_t{1} << 26);
    plan_.emplace(PlanShape::of(spec, model.config(), shards));
    maker_.emplace(spec, model.features().plans(), plan_->fields(), names_);
  }

  bool next() {
    at_ += maker_->take(chunk_, at_, chunk_.examples.size() - at_);
    if (!maker_->next()) return false;
    growth = maker_->growth();
    if (!growth.fields.empty()) plan_->grow(growth.sizes);
    parts.resize(plan_->shards());
    for (std::uint32_t s = 0; s < plan_->shards(); ++s) cut(maker_->stretch(), *plan_, s, parts[s]);
    maker_->next();  // begins a new stretch
    return true;
  }

  std::uint32_t fields() const { return plan_->fields(); }

  Growth growth;
  std::vector<PartBatch> parts;

 private:
  text::NamespaceNames names_;
  text::ExampleChunk chunk_;
  std::optional<Plan> plan_;
  std::optional<BatchMaker> maker_;
  std::size_t at_ = 0;
};

model::LineShape shape_of(bool usual) {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 30;
  shape.values = shape.weights = !usual;
  shape.late = usual ? 0 : 20;
  return shape;
}

TEST_CASE("batches of all kinds of models come as they were sent") {
  for (const model::NamedSpec& kind : model::specs_to_test()) {
    for (const bool usual : {true, false}) {
      INFO(kind.name << (usual ? "" : ", unusual lines"));
      Cutting cutting(kind.spec, model::random_lines(220, shape_of(usual), 5), 3);
      BatchMessage message;
      std::size_t batches = 0, fields = 0;
      for (; cutting.next(); ++batches) {
        Bytes bytes;
        encode_batch(cutting.growth, cutting.parts, 77, true, bytes);
        decode(bytes, message);
        REQUIRE(message.kind == BatchMessage::Kind::kBatch);
        CHECK(message.examples == 77);
        CHECK(message.ends_stretch);
        REQUIRE(message.parts.size() > 0);
        CHECK(message.parts[0].size() == cutting.parts[0].size());
        CHECK(std::ranges::equal(
            message.growth.namespaces, cutting.growth.namespaces, [](const auto& a, const auto& b) {
              return a.name == b.name && a.keep == b.keep && a.linear == b.linear &&
                     a.fields == b.fields && a.selectors == b.selectors;
            }));
        CHECK(message.growth.fields == cutting.growth.fields);
        CHECK(std::ranges::equal(message.growth.sizes, cutting.growth.sizes,
                                 [](const FieldSize& a, const FieldSize& b) {
                                   return a.features == b.features && a.rows == b.rows;
                                 }));
        fields += message.growth.sizes.size();
        REQUIRE(message.parts.size() == 3);
        for (std::size_t s = 0; s < 3; ++s) CHECK(equal(message.parts[s], cutting.parts[s]));
        if (!usual || cutting.growth.namespaces.size() > 0) continue;
        // Some 50 bytes are the same for all batches, and not in the formula.
        const std::uint64_t expected = batch_bytes(cutting.parts);
        CHECK(bytes.size() >= expected);
        CHECK(bytes.size() <= expected + 50 * cutting.parts.size());
      }
      CHECK(batches == 5);
      CHECK(fields == cutting.fields());
    }
  }
}

TEST_CASE("the end and a failure are told") {
  Bytes bytes;
  BatchMessage message;
  encode_end(bytes);
  decode(bytes, message);
  CHECK(message.kind == BatchMessage::Kind::kEnd);
  encode_failed(2, bytes);
  decode(bytes, message);
  CHECK(message.kind == BatchMessage::Kind::kFailed);
  CHECK(message.exit_code == 2);
}

TEST_CASE("a batch of which bytes are missing is refused at every length") {
  Cutting cutting(spec::Spec(), model::random_lines(20, shape_of(false), 6), 2);
  REQUIRE(cutting.next());
  Bytes bytes;
  encode_batch(cutting.growth, cutting.parts, 20, false, bytes);
  BatchMessage message;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(decode(std::string_view(bytes).substr(0, size), message), std::runtime_error);
  }
}

}  // namespace
}  // namespace leveret::dist
