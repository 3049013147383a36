// Lines in, answers out, however they come: the same as one by one, for every model that is named.
#include "daemon/line_protocol.h"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/house.h"
#include "files/temp_folder.h"
#include "train/train_run.h"

namespace leveret::daemon {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  return lines;
}

/// Whole lines at a time, as many as chance will.
std::string in_pieces(House& house, const std::string& text, bool context_lines,
                      std::mt19937& random) {
  LineProtocol protocol(house.worker, context_lines);
  std::string to, piece;
  for (const std::string& line : lines_of(text)) {
    piece += line;
    if (random() % 4 != 0) continue;
    protocol.answer(piece, to);
    piece.clear();
  }
  protocol.answer(piece, to);
  protocol.end(to);
  return to;
}

std::string random_lines(std::mt19937& random, bool context_lines) {
  const std::vector<std::string> lines = {"\xEF\xBB\xBF \n",
                                          "\r\r\n",
                                          "|A f4:3.75 f19:-2 f15 |B f10:0.5\n",
                                          "1 'tag |A f0:1\n",
                                          "|B f2\n",
                                          "x y |A f1\n",
                                          "\n",
                                          " \t\r\n",
                                          "@two |A f4 |B f10\n",
                                          "@one 't |A f4:3.75\n",
                                          "@nobody |A f4\n",
                                          "@two\n",
                                          "@\n",
                                          "shared |A f4\n",
                                          "@two shared |A f6\n",
                                          "|stranger x |A f19\n",
                                          "|\n"};
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += lines[random() % lines.size()];
    if (context_lines && random() % 3 == 0) text += "\n";
  }
  return text;
}

TEST_CASE("Lines are answered one for one, each by the model that it names", "[daemon]") {
  House house;
  const std::string one = house.answers("|A f4 |B f10\n", false);
  const std::string two = house.answers("@two |A f4 |B f10\n", false);
  CHECK(one != two);
  CHECK(house.answers("@one |A f4 |B f10\n", false) == one);
  CHECK(house.answers("@two|A f4 |B f10", false) == two);
  CHECK(house.answers("x |A f4\n\n@nobody |A f4\n@two\n@\n", false) == "nan\n\nnan\n\nnan\n");
  const std::string tagged = house.answers("@two 1 2 'click |A f4 |B f10\n", false);
  CHECK(tagged == two.substr(0, two.size() - 1) + " click\n");
}

TEST_CASE("However lines are cut, their answers are the same", "[daemon]") {
  for (const bool context_lines : {false, true}) {
    std::mt19937 random(3);
    for (int round = 0; round < 40; ++round) {
      House house({.context = {"A"}});
      const std::string text = random_lines(random, context_lines);
      const std::string expected = house.answers(text, context_lines);
      INFO(text);
      for (int i = 0; i < 5; ++i) {
        CHECK(in_pieces(house, text, context_lines, random) == expected);
      }
      // Contexts that return say what those that are made anew do.
      House without({.context = {"A"}}, 0);
      CHECK(without.answers(text, context_lines) == expected);
      if (!context_lines) CHECK(lines_of(expected).size() == lines_of(text).size());
    }
  }
}

TEST_CASE("A block is for the model that its context names", "[daemon]") {
  House house({.context = {"A"}});
  const std::string block = "|A f4\n|B f10\n|B f2\n\n";
  const std::string one = house.answers(block, true), two = house.answers("@two " + block, true);
  CHECK(one != two);
  CHECK(house.answers("@two " + block + block + "@two shared " + block, true) == two + one + two);
  // Without an empty line between them, too.
  const std::string open = "|A f4\n|B f10\n|B f2\n";
  CHECK(house.answers(open + "@two " + open + "shared " + open, true) == one + two + one);
  CHECK(house.answers("@nobody " + block, true) == "nan\nnan\n\n");
}

TEST_CASE("Lines that are not like those that were learned are counted and told", "[daemon]") {
  const files::TempFolder folder;
  spec::Spec spec;
  spec.ffm_k = 0;
  train::TrainRun run{spec};
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "1 |A f" + std::to_string(i % 7) + " |B f1\n";
  run.learn(text);
  modelfile::save_model(run.model, folder / "model");
  std::vector<std::string> told;
  ScorerOptions options;
  options.tell_skew = [&](const std::string& model, const skew::SkewFinding& finding) {
    told.push_back(model + " " + finding.name);
  };
  House house(options, 0, {"one=" + folder / "model"});
  const ModelCounts& counts = house.worker.counts(0);
  house.answers(text, false);
  CHECK(counts.skew_windows.get() == 2);
  CHECK(counts.skewed_windows.get() == 0);
  CHECK(told.empty());
  std::string blocks = "|A f1\n";
  for (int i = 0; i < 999; ++i) blocks += "|B f1\n";
  house.answers(blocks + "|C f1\n\n", true);  // all candidates have the context's A
  CHECK(counts.skew_windows.get() == 3);
  CHECK(counts.skewed_windows.get() == 0);
  CHECK(counts.strange_namespaces.get() == 1);
  for (int i = 0; i < 2000; ++i) house.answers("|B f1 |C f1\n", false);
  CHECK(counts.skewed_windows.get() == 2);
  CHECK(counts.missing_namespaces.get() == 2001);
  CHECK(told == std::vector<std::string>{"one C", "one A"});
}

TEST_CASE("Contexts that return are found, and what they take is bounded", "[daemon]") {
  const files::TempFolder folder;
  train::TrainRun run{spec::Spec{}};
  run.learn(model::random_lines(200, train::usual_shape(), 5));
  modelfile::save_model(run.model, folder / "model");
  House house({.context = {"A"}}, 100000, {folder / "model"});
  std::string text;
  for (int i = 0; i < 500; ++i) text += "|A f" + std::to_string(i) + "\n|B f10\n\n";
  house.answers("|A f4\n|B f10\n\n|A f4\n|B f2\n\n", true);
  const ModelCounts& counts = house.worker.counts(0);
  CHECK(counts.contexts_found.get() == 1);
  CHECK(counts.contexts_made.get() == 1);
  house.answers(text, true);
  const std::uint64_t found = counts.contexts_found.get();
  house.answers("|A f499\n|B f10\n\n", true);
  CHECK(counts.contexts_found.get() == found + 1);
  house.answers("|A f0\n|B f10\n\n", true);  // the least used has gone
  CHECK(counts.contexts_found.get() == found + 1);
}

}  // namespace
}  // namespace leveret::daemon
