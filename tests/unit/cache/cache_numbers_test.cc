// The numbers that transforms read, through a cache.
#include <catch2/catch.hpp>

#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "cache/cache_writer.h"
#include "files/bytes.h"
#include "stream/example_reader.h"
#include "stream/examples.h"
#include "stream/helpers.h"

using namespace leveret;
using namespace leveret::cache;
using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t kLongestLine = 1 << 20;
constexpr const char* kLines =
    "1 |a 37 |b x |user v:2.5 y\n-1 |user 4 |a :0\n1 |c 5\n-1 't |b 7 |a b3 v:-1.5 |a 9\n";

using Names = std::vector<std::string>;

/// What the text parses to, writing a cache on the way.
std::string make_cache(const std::string& path, const std::string& cache, const Names& numbers) {
  text::NamespaceNames names;
  const text::ParserOptions options{.numbers = numbers};
  CacheTee tee(std::make_unique<ExampleReader>(Names{path}, ReaderOptions{}, names, options),
               std::make_unique<CacheWriter>(cache, Names{path},
                                             make_cache_key({path}, options, kLongestLine), names));
  return describe_all(tee, names);
}

std::string parsed(const std::string& path, const Names& numbers) {
  text::NamespaceNames names;
  ExampleReader reader({path}, {}, names, {.numbers = numbers});
  return describe_all(reader, names);
}

}  // namespace

TEST_CASE("a cache with numbers gives those that are asked for, and nothing of the others") {
  const TempDir dir;
  const std::string path = dir.write("a", kLines), cache = dir.path("cache");
  const std::string made = make_cache(path, cache, {"user", "a"});
  CHECK_THAT(made, Contains("||a/0 0:42140000 ") && Contains("||user/0 0:40800000 "));
  CHECK(made == parsed(path, {"a", "user"}));
  for (const Names& numbers : {Names{}, Names{"a"}, Names{"user"}, Names{"user", "a"}}) {
    const CacheKey key = make_cache_key({path}, {.numbers = numbers}, kLongestLine);
    text::NamespaceNames names;
    CacheReader reader(cache, names, &key, numbers);
    CHECK(describe_all(reader, names) == parsed(path, numbers));
  }
  CHECK(inspect_cache(cache, true).key.numbers == Names{"a", "user"});
}

TEST_CASE("a cache without the numbers that are asked for is refused by the namespace's name") {
  const TempDir dir;
  const std::string path = dir.write("a", kLines), cache = dir.path("cache");
  make_cache(path, cache, {"a"});
  const CacheKey key = make_cache_key({path}, {.numbers = {"b", "a"}}, kLongestLine);
  text::NamespaceNames names;
  CHECK_THROWS_WITH(CacheReader(cache, names, &key),
                    Contains("made without the numbers of namespace b") && Contains("delete it"));
}

TEST_CASE("a cache in which other lines are bad is refused") {
  const TempDir dir;
  const std::string path = dir.write("a", kLines), cache = dir.path("cache");
  make_cache(path, cache, {"a"});
  const text::ParserOptions options{.numbers = {"a"}, .only_numbers = {"a"}};
  const CacheKey only = make_cache_key({path}, options, kLongestLine);
  text::NamespaceNames names;
  CHECK_THROWS_WITH(CacheReader(cache, names, &only, options.numbers),
                    Contains("made without --numeric, and this run is with --numeric a"));
  CacheKey some = make_cache_key({path}, {.numbers = {"a"}}, kLongestLine);
  CHECK(cache_mismatch(only, some) ==
        "it was made with --numeric a, and this run is without --numeric, which decides what lines "
        "are bad");
  CHECK(cache_mismatch(only, only).empty());
}

TEST_CASE("a key without numbers is as long as it was before there were any") {
  CacheKey key;
  std::string without, with;
  put_cache_key(key, without);
  CHECK(without.size() == 1 + 4 + 8 + 4);
  key.numbers = {"a", "b"};
  put_cache_key(key, with);
  CHECK(with.starts_with(without));
  files::BytesReader from(with);
  CHECK(get_cache_key(from).numbers == key.numbers);
  CHECK(from.empty());
  key.only_numbers = {"b"};
  std::string only;
  put_cache_key(key, only);
  CHECK(only.starts_with(with));
  files::BytesReader all(only);
  CHECK(get_cache_key(all).only_numbers == key.only_numbers);
  CHECK(all.empty());
}

TEST_CASE("a key whose numbers are broken is refused") {
  CacheKey key;
  key.numbers = {"a", "b"};
  std::string good;
  put_cache_key(key, good);
  const auto read = [](const std::string& bytes) {
    files::BytesReader from(bytes);
    get_cache_key(from);
  };
  for (std::size_t size = good.size() - 1; size > 17; --size) {
    CHECK_THROWS_AS(read(good.substr(0, size)), files::BytesReader::BadBytes);
  }
  std::swap(good[good.size() - 1], good[good.size() - 6]);
  CHECK_THROWS_WITH(read(good), Contains("not in order"));
}
