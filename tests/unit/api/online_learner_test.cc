// What a learner is given in several calls, and between them is asked, is what it is in one.
#include "api/online_learner.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "files/temp_folder.h"
#include "model/random_lines.h"
#include "store/model_file.h"

namespace leveret::api {
namespace {

constexpr const char* kOptions = "--ffm_k 2 --hidden none";

std::vector<float> learned(OnlineLearner& learner, const std::string& text) {
  std::vector<float> probabilities(
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
      (text.ends_with('\n') || text.empty() ? 0 : 1));
  learner.learn(text, probabilities.data(), probabilities.size(), {});
  return probabilities;
}

float predicted(OnlineLearner& learner, const std::string& line) {
  float probability = 0;
  learner.predict(line, {&probability, 1});
  return probability;
}

train::Notes saved_notes(OnlineLearner& learner, const std::string& path) {
  learner.save(path);
  return train::notes_of(store::ModelFile::open(path));
}

TEST_CASE("A chunk that came in calls is known again when its file comes") {
  const std::vector<std::string> lines = {"1 |a x |b y", "-1 |a z |b y", "1 |b z", "-1 |a x"};
  const files::TempFolder folder;
  std::string whole;
  for (const std::string& line : lines) whole += line + '\n';
  // Each call ends with the end of its last line or without it, all calls at once.
  for (unsigned with_end = 0; with_end < 16; ++with_end) {
    INFO("calls " << with_end);
    OnlineLearner learner(kOptions);
    std::string file;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool has_end = (with_end >> i & 1) != 0;
      learned(learner, has_end ? lines[i] + '\n' : lines[i]);
      // What has no end gets one when the next line comes.
      file += has_end || i + 1 < lines.size() ? lines[i] + '\n' : lines[i];
    }
    files::write_bytes(folder / "file", std::as_bytes(std::span(file)));
    const train::Notes notes = saved_notes(learner, folder / "model");
    CHECK(notes.chunks.entries().size() == 1);
    CHECK(train::find_learned(notes.chunks, folder / "file").learned);
  }
  // What comes behind a save is a chunk of its own.
  OnlineLearner learner(kOptions);
  for (int i = 1; i <= 3; ++i) {
    learned(learner, whole + lines[static_cast<std::size_t>(i)]);
    CHECK(saved_notes(learner, folder / "model").chunks.entries().size() ==
          static_cast<std::size_t>(i));
  }
}

TEST_CASE("A prediction between calls changes none that comes later") {
  OnlineLearner asked(kOptions), other(kOptions);
  const std::string first = "1 |a x |b y\n-1 |a z |b y\n", more = "1 |new n |b y\n1 |new n |a z\n";
  for (int i = 0; i < 20; ++i) {
    CHECK(learned(asked, first) == learned(other, first));
    predicted(asked, "|a x |new n\n");
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(learned(asked, more) == learned(other, more));
  }
  const std::string line = "|a z |new n\n";
  const float known = predicted(asked, line);
  CHECK(known == predicted(other, line));
  CHECK(known != predicted(other, "|a z\n"));  // the namespace counts for something
  predicted(asked, line);
  learned(asked, "1 |newer n\n");
  learned(other, "1 |newer n\n");
  CHECK(predicted(asked, "|newer n\n") == predicted(other, "|newer n\n"));
}

/// The line of the first bad one, as it is told.
std::string told_of(const std::string& options, const std::string& text) {
  OnlineLearner learner(std::string(kOptions) + options);
  try {
    learned(learner, text);
  } catch (const serve::BadLine& bad) {
    return bad.what();
  }
  return "nothing";
}

TEST_CASE("Of all bad lines of a call the first one is told") {
  model::LineShape shape;
  const std::string good = model::random_lines(4000, shape, 3);  // some pieces
  REQUIRE(good.size() > 200000);
  for (const char* const options : {"", " --threads 3"}) {
    INFO(options);
    CHECK(told_of(options, good) == "nothing");
    CHECK_THAT(told_of(options, good + "x |a b\n" + good + good + "y |a b\n" + good + "z |a b\n"),
               Catch::Contains("line 4001"));
    CHECK_THAT(told_of(options, good + good + "x |a b\ny |a b\n" + good),
               Catch::Contains("line 8001"));
  }
}

}  // namespace
}  // namespace leveret::api
