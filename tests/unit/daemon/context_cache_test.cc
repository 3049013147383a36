// Which contexts stay: the last used, as many as there is room for.
#include "daemon/context_cache.h"

#include <catch2/catch.hpp>
#include <memory>

#include "predict/parts.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::daemon {
namespace {

struct Lines {
  explicit Lines(const std::string& text) {
    chunk.bytes = text;
    text::Parser(names, {}).parse(chunk);
  }
  std::shared_ptr<predict::CachedContext> context(std::size_t example) const {
    auto kept = std::make_shared<predict::CachedContext>();
    predict::append_whole(chunk, chunk.examples[example], kept->features);
    return kept;
  }
  text::NamespaceNames names;
  text::ExampleChunk chunk;
};

TEST_CASE("A context is found by its features, for its predictor", "[daemon]") {
  const Lines lines("|A a b\n|A a b:2\n|B a b\n|A a |A b\n|A a\n|\n");
  ContextCache cache(1 << 20);
  const auto context = lines.context(0);
  cache.add(7, context);
  CHECK(cache.find(7, lines.chunk, 0) == context);
  CHECK(cache.find(8, lines.chunk, 0) == nullptr);
  for (std::size_t other : {1, 2, 3, 4, 5}) CHECK(cache.find(7, lines.chunk, other) == nullptr);
  cache.add(7, lines.context(5));
  CHECK(cache.find(7, lines.chunk, 5) != nullptr);
  CHECK(cache.size() == 2);
  cache.forget(8);
  CHECK(cache.size() == 2);
  cache.forget(7);
  CHECK(cache.size() == 0);
  CHECK(cache.bytes() == 0);
  CHECK(cache.find(7, lines.chunk, 0) == nullptr);
}

TEST_CASE("The least used goes first, and nothing that is too large comes in", "[daemon]") {
  const Lines lines("|A a\n|A b\n|A c\n|A d\n");
  const std::size_t each = lines.context(0)->size_bytes();
  ContextCache cache(3 * each + each / 2);
  for (std::size_t i : {0, 1, 2}) cache.add(1, lines.context(i));
  CHECK(cache.find(1, lines.chunk, 0) != nullptr);
  cache.add(1, lines.context(3));
  CHECK(cache.size() == 3);
  CHECK(cache.bytes() <= 3 * each + each / 2);
  CHECK(cache.find(1, lines.chunk, 1) == nullptr);
  CHECK(cache.find(1, lines.chunk, 0) != nullptr);
  cache.add(1, lines.context(3));  // again: in place of itself
  CHECK(cache.size() == 3);
  ContextCache none(0);
  none.add(1, lines.context(0));
  CHECK(none.size() == 0);
}

}  // namespace
}  // namespace leveret::daemon
