// Shards and ordinary models: nothing is lost on the way, and bits do not depend on ranks.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "each_batch.h"
#include "sharded_run.h"
#include "sharded_specs.h"
#include "thread_ranks.h"

namespace leveret::dist {
namespace {

std::string some_lines(std::size_t count, std::size_t late) {
  model::LineShape shape;
  shape.fields = 7;
  shape.vocabulary = 25;
  shape.repeats = true;
  shape.late = late;
  return some_unlabelled(model::random_lines(count, shape, 8));
}

TEST_CASE("a model that is split and gathered again is the same file") {
  const std::string lines = some_lines(120, GENERATE(0, 11));
  for (const NamedSpec& kind : sharded_specs(8, 0)) {
    train::TrainRun run(kind.spec);
    run.learn(lines);
    for (const std::uint32_t shards : {1, 2, 3, 8}) {
      INFO(kind.name << ", " << shards << " shards");
      model::Model again = ShardedRun(run.model, shards).whole();
      CHECK(again.plan()[0] == shards);
      again.set_plan({});
      CHECK((saved_bytes(again) == run.saved()));
    }
  }
}

TEST_CASE("a run that goes on with a file ends with the file of one run, bit for bit", "[digits]") {
  const std::size_t late = GENERATE(0, 13);
  const std::string lines = some_lines(160, late);
  for (NamedSpec& kind : sharded_specs(8, 0)) {
    // Where all batches have one size they end with every eighth line, with a label or without.
    kind.spec.batch_warmup = 0;
    ShardedRun one(kind.spec, kDeterministicShards);
    one.learn(lines);
    for (const std::size_t at : {8, 64, 152}) {
      INFO(kind.name << ", cut after line " << at << ", late " << late);
      const files::TempFolder folder;
      ShardedRun first(kind.spec, kDeterministicShards);
      first.learn(train::cut(lines, 0, at));
      modelfile::save_model(first.whole(), folder / "first");
      ShardedRun second(modelfile::load_model(folder / "first", train::kTestMemory),
                        kDeterministicShards);
      second.learn(train::cut(lines, at, 1000));
      CHECK((saved_bytes(second.whole()) == saved_bytes(one.whole())));
    }
  }
}

/// What `ranks` threads learn together, each of which reads everything and keeps its share.
std::vector<std::byte> learned_by(unsigned ranks, const spec::Spec& spec, const std::string& lines,
                                  unsigned wire_bits = 32) {
  std::vector<std::unique_ptr<ShardedModel>> models(ranks);
  const unsigned each = kDeterministicShards / ranks;
  run_ranks(ranks, [&](Communicator& communicator) {
    const unsigned rank = communicator.rank();
    models[rank] = std::make_unique<ShardedModel>(spec, kDeterministicShards, rank * each, each,
                                                  train::kTestMemory, kernels::active());
    ShardedModel& model = *models[rank];
    ShardedLearner learner(model, communicator);
    learner.check_every = 3;
    learner.wire_bits = wire_bits;
    std::vector<PartBatch> parts(each);
    each_batch(spec, lines, [&](BatchMaker& maker) {
      model.grow(maker.growth());
      for (unsigned p = 0; p < each; ++p) {
        cut(maker.stretch(), model.plan(), rank * each + p, maker.begin(), maker.end(), parts[p]);
      }
      learner.learn(parts, {}, maker.size());
      if (maker.ends_stretch()) {
        model.frame().model().sightings().grow_and_add(maker.sightings());
      }
      return learner.scores();
    });
  });
  std::vector<const Part*> parts;
  for (const auto& model : models) {
    for (std::size_t p = 0; p < model->size(); ++p) parts.push_back(&(*model)[p]);
  }
  return saved_bytes(gather(models[0]->frame(), models[0]->plan(), parts, train::kTestMemory));
}

TEST_CASE("1, 2, 4 and 8 ranks write the same file", "[threads][digits]") {
  // Fields that come late for every other kind of model.
  const std::string early = some_lines(200, 0), late = some_lines(200, 17);
  bool comes_late = false;
  for (const NamedSpec& kind : sharded_specs(32, 0)) {
    comes_late = !comes_late;
    const std::string& lines = comes_late ? late : early;
    INFO(kind.name);
    ShardedRun one(kind.spec, kDeterministicShards);
    one.learn(lines);
    const std::vector<std::byte> expected = saved_bytes(one.whole());
    for (const unsigned ranks : {1u, 2u, 4u, 8u}) {
      INFO(ranks << " ranks");
      CHECK((learned_by(ranks, kind.spec, lines) == expected));
    }
  }
}

TEST_CASE("with sums of 16 bits ranks stay alike, and learn the same each time", "[threads]") {
  const std::string lines = some_lines(200, 17);
  for (const spec::Heads heads : {spec::Heads::kMixed, spec::Heads::kOne}) {
    spec::Spec spec;
    spec.batch_size = 32;
    spec.heads = heads;
    const std::vector<std::byte> once = learned_by(4, spec, lines, 16);
    CHECK((learned_by(4, spec, lines, 16) == once));
    CHECK((learned_by(4, spec, lines, 32) != once));
  }
}

TEST_CASE("a rank that fails, or is to stop, tells all others within the sums", "[threads]") {
  spec::Spec spec;
  spec.batch_size = 16;
  spec.batch_warmup = 0;
  const std::string lines = some_lines(16, 0);
  std::vector<BatchFlags> flags(4), after(4);
  run_ranks(4, [&](Communicator& communicator) {
    const unsigned rank = communicator.rank();
    ShardedModel model(spec, 4, rank, 1, train::kTestMemory, kernels::active());
    ShardedLearner learner(model, communicator);
    each_batch(spec, lines, [&](BatchMaker& maker) {
      model.grow(maker.growth());
      std::vector<PartBatch> parts(1);
      cut(maker.stretch(), model.plan(), rank, parts[0]);
      flags[rank] = learner.learn(parts, {.failed = false, .stop = rank == 2}, 16);
      after[rank] = learner.learn(parts, {.failed = rank == 1, .stop = false}, 16);
      return learner.scores();
    });
  });
  for (unsigned rank = 0; rank < 4; ++rank) {
    CHECK(flags[rank].stop);
    CHECK_FALSE(flags[rank].failed);
    CHECK(after[rank].failed);
  }
}

TEST_CASE("ranks that no longer have the same mixers and layers are found out", "[threads]") {
  spec::Spec spec;
  spec.batch_size = 16;
  spec.batch_warmup = 0;
  const std::string lines = some_lines(32, 0);
  std::vector<std::string> errors(2);
  run_ranks(2, [&](Communicator& communicator) {
    const unsigned rank = communicator.rank();
    ShardedModel model(spec, 2, rank, 1, train::kTestMemory, kernels::active());
    ShardedLearner learner(model, communicator);
    learner.check_every = 1;
    std::vector<PartBatch> parts(1);
    int batch = 0;
    each_batch(spec, lines, [&](BatchMaker& maker) {
      model.grow(maker.growth());
      cut(maker.stretch(), model.plan(), rank, parts[0]);
      if (batch++ == 1 && rank == 1) model.frame().model().parameters().scalars.bias += 1e-6f;
      try {
        learner.learn(parts, {}, 16);
      } catch (const std::runtime_error& error) {
        errors[rank] = error.what();
      }
      return learner.scores();
    });
  });
  for (const std::string& error : errors)
    CHECK_THAT(error, Catch::Contains("no longer have the same"));
}

}  // namespace
}  // namespace leveret::dist
