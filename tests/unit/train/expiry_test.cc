// What --expire and --when_full evict forget, and that a run in parts forgets the same.
#include "model/expiry.h"

#include <catch2/catch.hpp>
#include <set>

#include "new_features.h"
#include "train_run.h"

namespace leveret::train {
namespace {

TEST_CASE("a feature is forgotten when so many examples have not had it, and a third more") {
  spec::Spec spec;
  spec.expire = GENERATE(1, 2, 30, 90);
  spec.batch_size = GENERATE(1, 4);
  spec.batch_warmup = 0;
  const std::uint64_t tick = model::ticks_every(spec);
  TrainRun run(spec);
  for (std::size_t at = 0; at < 400; at += 4) {
    run.learn(lines_with_new_features(at, at + 4));
    const std::uint64_t seen = at + 4;
    std::uint64_t oldest = seen;
    for (std::uint64_t i = 0; i < seen; ++i) {
      const std::string line = "1 |b n" + std::to_string(i) + "\n";
      const text::ExampleChunk chunk = parse(run.names, line);
      const table::Key key = table::key_of(chunk.features[0].hash);
      if (run.model.tables().field(1).find(key) == nullptr) continue;
      oldest = i;
      break;
    }
    // It was last seen in example `oldest`, the others came after it.
    const std::uint64_t since = seen - oldest - 1;
    const std::uint64_t most = spec.expire + tick + 2 + 4 * spec.batch_size;
    REQUIRE(since <= most);
    if (seen > most) REQUIRE(since + 1 + spec.batch_size >= spec.expire);
  }
  CHECK(run.model.tables().forgotten() > 0);
  const std::string x = "1 |a x\n";
  const text::ExampleChunk chunk = parse(run.names, x);
  CHECK(run.model.tables().field(0).find(table::key_of(chunk.features[0].hash)) != nullptr);
}

TEST_CASE("evicting keeps within the memory, and nothing new is turned away for long") {
  spec::Spec spec;
  spec.evicts = true;
  spec.admit = 1;
  spec.expire = GENERATE(0, 100000);
  constexpr std::uint64_t kLittle = 300000;
  TrainRun run(spec, kLittle);
  for (std::size_t at = 0; at < 20000; at += 500) {
    run.learn(lines_with_new_features(at, at + 500));
    REQUIRE(run.model.tables().budget().used() < kLittle + 10000);
  }
  CHECK(run.model.tables().forgotten() > 15000);
  CHECK(features_of(run.model) > 500);
  CHECK(run.model.tables().overflow_lookups() < 20000);
}

TEST_CASE(
    "what cannot be evicted, cells without keys, counts for nothing when there is room to make") {
  spec::Spec spec;
  spec.evicts = true;
  spec.admit = 1;
  spec.bit_precision = 16;
  constexpr std::uint64_t kOthers = 300000;
  const std::uint64_t cells = TrainRun(spec).model.tables().budget().used();
  REQUIRE(cells > 3 * kOthers);
  TrainRun run(spec, cells + kOthers);
  std::size_t most = 0;
  for (std::size_t at = 0; at < 8000; at += 20) {
    run.learn(lines_with_new_features(at, at + 20));
    const std::size_t now = features_of(run.model);
    most = std::max(most, now);
    INFO("behind " << at << " examples");
    REQUIRE(now > most * 3 / 4);
  }
  CHECK(run.model.tables().forgotten() > 1000);
}

TEST_CASE("a run in parts evicts what one run does") {
  spec::Spec spec;
  spec.evicts = true;
  spec.admit = 1;
  constexpr std::uint64_t kLittle = 300000;
  TrainRun whole(spec, kLittle);
  whole.learn(lines_with_new_features(0, 6000));
  REQUIRE(whole.model.tables().forgotten() > 3000);
  for (const std::size_t split : {1000, 2600, 2612, 2625, 2637, 2650, 2662, 4001}) {
    const files::TempFolder folder;
    TrainRun first(spec, kLittle);
    first.learn(lines_with_new_features(0, split));
    save_model(first.model, folder / "m");
    TrainRun second(load_model(folder / "m", kLittle));
    second.learn(lines_with_new_features(split, 6000));
    CHECK((second.saved() == whole.saved()));
  }
}

TEST_CASE(
    "a run in parts forgets what one run does where features stand in several fields, and with "
    "-b") {
  spec::Spec spec;
  spec.expire = 40;
  if (GENERATE(true, false)) {
    spec.features.fields = {{"a", "b"}, {"b"}};
  } else {
    spec.bit_precision = 18;
  }
  TrainRun whole(spec);
  whole.learn(lines_with_new_features(0, 400));
  REQUIRE(whole.model.tables().forgotten() > 500);
  for (const std::size_t split : {1, 39, 41, 250}) {
    const files::TempFolder folder;
    TrainRun first(spec);
    first.learn(lines_with_new_features(0, split));
    save_model(first.model, folder / "m");
    TrainRun second(load_model(folder / "m", kTestMemory));
    second.learn(lines_with_new_features(split, 400));
    CHECK((second.saved() == whole.saved()));
  }
}

TEST_CASE("how the input is cut does not matter to what is evicted") {
  spec::Spec spec;
  spec.evicts = true;
  spec.admit = 1;
  std::string lines = lines_with_new_features(0, 3000);
  for (std::size_t at = 0; (at = lines.find("-1 |a x |b n7", at)) != std::string::npos;) {
    lines.erase(at, 2);  // without a label
  }
  TrainRun whole(spec, 200000);
  whole.learn(lines);
  REQUIRE(whole.model.tables().forgotten() > 1000);
  for (const std::size_t step : {1, 33, 700}) {
    TrainRun pieces(spec, 200000);
    pieces.learn(lines, step);
    CHECK((pieces.saved() == whole.saved()));
  }
}

TEST_CASE("a model that begins to forget later does not take old features for older") {
  spec::Spec spec;
  TrainRun run(spec);
  run.learn(lines_with_new_features(0, 300));
  const std::uint64_t features = features_of(run.model);
  spec.expire = 100;
  const files::TempFolder folder;
  save_model(run.model, folder / "m");
  TrainRun next(load_model(folder / "m", kTestMemory));
  next.model.set_spec(spec);
  next.learn(lines_with_new_features(300, 390));
  CHECK(next.model.tables().forgotten() == 0);
  CHECK(features_of(next.model) > features);
  next.learn(lines_with_new_features(390, 450));
  CHECK(next.model.tables().forgotten() >= features - 3);
}

}  // namespace
}  // namespace leveret::train
