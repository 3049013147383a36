// Names that are closed: new ones are not kept, and what they begin with is all that is known.
#include "text/namespace_names.h"

#include "parse_text.h"

namespace leveret::text {
namespace {

std::vector<std::uint32_t> names_of(Parser& parser, std::string_view line) {
  ExampleChunk chunk;
  chunk.bytes = line;
  parser.parse(chunk);
  REQUIRE(chunk.bad.empty());
  std::vector<std::uint32_t> names;
  for (const NamespaceRun& run : chunk.runs) {
    CHECK(run.name < chunk.name_limit);
    names.push_back(run.name);
  }
  return names;
}

TEST_CASE("closed names keep their ids, and new ones share one by their first byte") {
  NamespaceNames names;
  const std::uint32_t user = *names.intern("user");
  CHECK_FALSE(names.is_shared(user));
  names.close();
  const std::uint32_t size = names.size();
  CHECK(names.intern("user") == user);
  const std::uint32_t shared = *names.intern("url");
  CHECK(names.is_shared(shared));
  CHECK(shared < size);
  CHECK(names.intern("u") == shared);
  CHECK(names.intern("ad") != shared);
  CHECK(names.is_shared(*names.intern("\xff")));
  CHECK(names.name(shared) == "u ");
  CHECK(names.name(*names.intern("\xff")) == "\xff ");
  CHECK_FALSE(names.is_shared(*names.intern("")));
  CHECK(names.name(*names.intern("")).empty());
  names.close();
  CHECK(names.size() == size);
}

TEST_CASE("a parser hashes new namespaces by their whole names, closed or not") {
  NamespaceNames open, closed;
  closed.intern("known");
  closed.close();
  const std::string text = "1 |known a |other b |o c:2 | d |known e\n1 |other b |odd b\n";
  ExampleChunk expected, got;
  expected.bytes = got.bytes = text;
  Parser(open, {}).parse(expected);
  Parser(closed, {}).parse(got);
  REQUIRE(got.runs.size() == expected.runs.size());
  for (std::size_t r = 0; r < got.runs.size(); ++r) {
    CHECK(got.runs[r].hash == expected.runs[r].hash);
  }
  for (std::size_t f = 0; f < got.features.size(); ++f) {
    CHECK(got.features[f].hash == expected.features[f].hash);
  }
}

TEST_CASE("new namespaces are in no parser's memory: a known one is told from them each time") {
  NamespaceNames names;
  const std::uint32_t user = *names.intern("user");
  names.close();
  Parser parser(names, {});
  const std::uint32_t shared = *names.intern("x");
  for (int i = 0; i < 3; ++i) {
    CHECK(names_of(parser, "1 |x1 a |user b |x2 c\n") ==
          std::vector<std::uint32_t>{shared, user, shared});
  }
}

TEST_CASE("a closed name that has the hash of another is that name") {
  NamespaceNames names;
  const std::uint32_t seven = *names.intern("7");
  const std::uint32_t other = *names.intern("007");
  CHECK(other != seven);
  names.close();
  CHECK(names.intern("007") == other);
  CHECK(names.intern("07") == seven);
  CHECK(names.intern("4294967303") == seven);
  CHECK(names.is_shared(*names.intern("8")));
  NamespaceNames all;
  all.intern("7");
  all.close(0, HashMode::kAll);
  CHECK(all.is_shared(*all.intern("07")));
}

}  // namespace
}  // namespace leveret::text
