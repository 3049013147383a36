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

TEST_CASE("a context among the lines counts for its candidates") {
  const std::string context = "|user " + std::string(kPiece / 2, 'u') + "\n";
  const std::string lines = context + "|ad a\n|ad b\n|ad c\n|ad d\n";
  std::string_view rest = lines;
  // The context and its first candidate are a piece; those that follow cost half of one.
  CHECK(take_piece(rest, {.context_lines = true}) == context + "|ad a\n");
  const PieceOptions within = {.context_lines = true, .context_bytes = context.size()};
  CHECK(take_piece(rest, within) == "|ad b\n|ad c\n");
  CHECK(take_piece(rest, within) == "|ad d\n");
}

TEST_CASE(
    "what looks like the end of a request, or like another context, makes no candidate cheap") {
  const std::string context = "|user " + std::string(kPiece / 8, 'u') + "\n";
  for (const std::string mask :
       {"@t|ad a\n", "\r\r\n", "\xEF\xBB\xBF\n", "shared |ad a\n", "\n", " \n"}) {
    std::string lines = context;
    for (int i = 0; i < 100; ++i) lines += mask + "|ad a\n";
    for (const std::string& piece :
         pieces_of(lines, {.context_lines = true, .context_bytes = context.size()})) {
      CHECK(lines_in(piece) <= 9);
    }
  }
}

TEST_CASE("whatever the lines, a piece has some, and no more work than a piece's and a line's") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string lines;
    for (int i = 0; i < 300; ++i) {
      const std::size_t length = random() % 8 == 0 ? random() % 5000 : random() % 30;
      lines += std::string(length, random() % 5 == 0 ? ' ' : 'x') + "\n";
    }
    const PieceOptions options = {.context_lines = true, .context_bytes = random() % 3000};
    const auto pieces = pieces_of(lines, options);
    CHECK(joined(pieces) == lines);
    for (const std::string& piece : pieces) {
      REQUIRE(!piece.empty());
      // As if each line but the last were scored with the longest one.
      std::size_t longest = options.context_bytes, work = 0, begin = 0;
      for (std::size_t end; begin < piece.size(); begin = end) {
        CHECK(work < kPiece);
        end = piece.find('\n', begin) + 1;
        work += end - begin + longest;
        longest = std::max(longest, end - begin);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::daemon
