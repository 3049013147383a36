// What is cut from the front of lines: whole lines, never more work than a piece's and a line's.
#include "daemon/pieces.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace leveret::daemon {
namespace {

constexpr std::size_t kPiece = 64 << 10;

std::vector<std::string> pieces_of(std::string_view lines, const PieceOptions& options) {
  std::vector<std::string> pieces;
  while (!lines.empty()) pieces.emplace_back(take_piece(lines, options));
  return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

std::size_t lines_in(const std::string& piece) {
  return static_cast<std::size_t>(std::ranges::count(piece, '\n'));
}

TEST_CASE("lines alone are cut by their bytes") {
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "|A b" + std::to_string(i) + "\n";
  lines += "|A without an end";
  const auto pieces = pieces_of(lines, {});
  CHECK(joined(pieces) == lines);
  REQUIRE(pieces.size() > 2);
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    CHECK(pieces[i].back() == '\n');
    CHECK((pieces[i].size() >= kPiece && pieces[i].size() < kPiece + 20));
  }
}

TEST_CASE("a line longer than a piece is one") {
  const std::string lines = std::string(3 * kPiece, 'x') + "\nshort\n";
  CHECK(pieces_of(lines, {}) ==
        std::vector<std::string>{lines.substr(0, 3 * kPiece + 1), "short\n"});
}

TEST_CASE("candidates of a large context are few at a time") {
  std::string candidates;
  for (int i = 0; i < 100; ++i) candidates += "|ad a\n";
  const auto pieces = pieces_of(candidates, {.context_bytes = kPiece / 4});
  CHECK(joined(pieces) == candidates);
  for (const std::string& piece : pieces) CHECK(lines_in(piece) == 4);
}

TEST_CASE("a context among the lines counts for its candidates, until its request ends") {
  const std::string context = "|user " + std::string(kPiece / 2, 'u') + "\n";
  const std::string candidates = "|ad a\n|ad b\n|ad c\n|ad d\n";
  const PieceOptions options = {.context_lines = true};
  // The context and its first candidate are a piece; those that follow cost half of one.
  auto rest = std::string_view();
  const std::string lines = context + candidates + "\n" + candidates;
  rest = lines;
  CHECK(take_piece(rest, options) == context + "|ad a\n");
  // They go on with a context that came before. Behind its end another one begins, a small one.
  PieceOptions within = options;
  within.in_request = true;
  within.context_bytes = context.size();
  CHECK(take_piece(rest, within) == "|ad b\n|ad c\n");
  CHECK(take_piece(rest, within) == "|ad d\n\n" + candidates);
  CHECK(rest.empty());
}

TEST_CASE("a labelled or named context begins a request wherever it stands") {
  const std::string context = std::string(kPiece / 2, 'u') + "\n";
  for (const std::string begin : {"shared |user ", "@ads |user "}) {
    const std::string lines = "|user u\n|ad a\n" + begin + context + "|ad a\n|ad a\n|ad a\n";
    std::string_view rest = lines;
    const std::string_view piece = take_piece(rest, {.context_lines = true});
    CHECK(piece.ends_with(context + "|ad a\n"));
  }
}

TEST_CASE("whatever the lines, a piece has some and no work beyond its own and a line's") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string lines;
    std::size_t longest = 0;
    for (int i = 0; i < 300; ++i) {
      const std::size_t length = random() % 8 == 0 ? random() % 5000 : random() % 30;
      lines += std::string(length, random() % 5 == 0 ? ' ' : 'x') + "\n";
      longest = std::max(longest, length + 1);
    }
    const PieceOptions options = {.context_lines = true, .in_request = random() % 2 == 0};
    const auto pieces = pieces_of(lines, options);
    CHECK(joined(pieces) == lines);
    for (const std::string& piece : pieces) {
      REQUIRE(!piece.empty());
      CHECK(piece.size() < kPiece + longest);
    }
  }
}

}  // namespace
}  // namespace leveret::daemon
