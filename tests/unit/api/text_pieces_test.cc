#include "api/text_pieces.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using leveret::api::count_lines;
using leveret::api::TextPieces;
using leveret::text::ExampleChunk;

namespace {

/// All pieces, which are to follow each other; their sizes.
std::vector<std::size_t> sizes_of(const std::string& text) {
  TextPieces pieces(text);
  ExampleChunk chunk;
  std::string joined;
  std::vector<std::size_t> sizes;
  std::size_t lines = 0;
  while (pieces.next(chunk)) {
    REQUIRE(chunk.first_line == lines + 1);
    REQUIRE(chunk.bad.empty());
    lines += count_lines(chunk.bytes);
    joined += chunk.bytes;
    sizes.push_back(chunk.bytes.size());
    REQUIRE(pieces.bytes() == joined.size());
    REQUIRE(pieces.lines() == lines);
  }
  REQUIRE(joined == text);
  REQUIRE(lines == count_lines(text));
  return sizes;
}

constexpr std::size_t kPiece = 64 << 10;

}  // namespace

TEST_CASE("a last line may lack its end") {
  REQUIRE(count_lines("") == 0);
  REQUIRE(count_lines("a") == 1);
  REQUIRE(count_lines("\n") == 1);
  REQUIRE(count_lines("a\n\nb") == 3);
}

TEST_CASE("text is cut between lines, and all of it is there") {
  REQUIRE(sizes_of("").empty());
  REQUIRE(sizes_of("a\nb").size() == 1);
  REQUIRE(sizes_of(std::string(kPiece - 1, 'x') + "\n").size() == 1);
  REQUIRE(sizes_of(std::string(kPiece - 1, 'x') + "\ny").size() == 2);
  REQUIRE(sizes_of("a\n" + std::string(3 * kPiece, 'x') + "\nb\nc").size() == 3);
  std::string text;
  for (std::size_t i = 0; i < 30000; ++i) text += std::string(i % 23, 'x') + "\n";
  const std::vector<std::size_t> sizes = sizes_of(text);
  REQUIRE(sizes.size() == text.size() / (kPiece - 23) + 1);
  for (const std::size_t size : sizes) REQUIRE(size <= kPiece);
}

TEST_CASE("a line that no parser takes is bad, and the others are there") {
  const std::string text = "1 |a b\n" + std::string((64 << 20) + 1, 'x') + "\n1 |a c\n";
  TextPieces pieces(text);
  ExampleChunk chunk;
  REQUIRE(pieces.next(chunk));
  REQUIRE(chunk.bytes == "1 |a b\n");
  REQUIRE(pieces.next(chunk));
  REQUIRE(chunk.bad.size() == 1);
  REQUIRE(chunk.bad[0].line == 2);
  REQUIRE(chunk.bytes.size() < 2000);
  REQUIRE(pieces.next(chunk));
  REQUIRE(chunk.bytes == "1 |a c\n");
  REQUIRE(chunk.first_line == 3);
  REQUIRE(chunk.bad.empty());
  REQUIRE(!pieces.next(chunk));
  REQUIRE(pieces.lines() == 3);
}
