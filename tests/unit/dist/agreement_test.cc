#include "dist/talk/agreement.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "thread_ranks.h"

namespace leveret::dist {
namespace {

/// What each rank has to say after `work`; "" where nothing was thrown.
std::vector<std::string> said(unsigned size, const std::function<void(Communicator&)>& work,
                              bool all_know) {
  std::vector<std::string> messages(size);
  std::vector<char> know(size);
  run_ranks(size, [&](Communicator& ranks) {
    try {
      work(ranks);
    } catch (const FailedElsewhere& failed) {
      messages[ranks.rank()] = "elsewhere " + std::to_string(failed.exit_code);
    } catch (const std::exception& error) {
      messages[ranks.rank()] = error.what();
    }
    know[ranks.rank()] = ranks.all_know_the_end();
  });
  CHECK(know == std::vector<char>(size, all_know));
  return messages;
}

using Messages = std::vector<std::string>;

TEST_CASE("a step that fails on one rank is called off on all, and one says why", "[threads]") {
  const unsigned bad = GENERATE(0u, 1u, 2u, 3u);  // 3: none
  const auto step = [&](Communicator& ranks) {
    together(ranks, [&] {
      if (ranks.rank() == bad) throw std::runtime_error("no room");
    });
  };
  Messages expected(3, bad < 3 ? "elsewhere 1" : "");
  if (bad < 3) expected[bad] = "no room";
  CHECK(said(3, step, bad < 3) == expected);
}

TEST_CASE("what rank 0 finds out reaches all, or its error does", "[threads]") {
  const auto code = [](std::exception_ptr) { return 2; };
  std::vector<Bytes> got(3);
  CHECK(said(
            3,
            [&](Communicator& ranks) {
              got[ranks.rank()] = from_root(
                  ranks, [] { return Bytes("found\0out", 9); }, code);
            },
            false) == Messages(3));
  CHECK(got == std::vector<Bytes>(3, Bytes("found\0out", 9)));
  CHECK(said(
            3,
            [&](Communicator& ranks) {
              from_root(
                  ranks, []() -> Bytes { throw std::runtime_error("no such file"); }, code);
            },
            true) == Messages{"no such file", "elsewhere 2", "elsewhere 2"});
}

}  // namespace
}  // namespace leveret::dist
