#include "cache/cache_column.h"

#include <catch2/catch.hpp>
#include <random>

#include "files/bytes.h"

using namespace leveret;
using namespace leveret::cache;

namespace {

using Values = std::vector<std::uint32_t>;

std::string encoded(const Values& values) {
  std::string bytes;
  ColumnEncoder().encode(values, bytes);
  return bytes;
}

Values decoded(std::string_view bytes, std::size_t count) {
  Values values(count, 77);
  files::BytesReader from(bytes);
  decode_column(from, count, values.data());
  CHECK(from.empty());
  return values;
}

}  // namespace

TEST_CASE("a column comes back as it was") {
  std::mt19937 random(1);
  for (const std::size_t count : {0, 1, 2, 3, 5, 254, 255, 256, 257, 1000, 8192}) {
    for (const std::uint32_t distinct : {1u, 2u, 254u, 255u, 256u, 300u, 5000u, 0xffffffffu}) {
      Values values(count);
      for (std::uint32_t& value : values) {
        // Squares of uniform numbers: some values often, most rarely, as in the Zipf case.
        const double u = random() / 4294967296.0;
        value = static_cast<std::uint32_t>(u * u * u * distinct) * 2654435761u;
      }
      const std::string bytes = encoded(values);
      CHECK(decoded(bytes, count) == values);
      CHECK(bytes.size() <= 4 * count + 9);
    }
  }
}

TEST_CASE("a column may be decoded in parts of any size") {
  std::mt19937 random(3);
  for (const std::uint32_t distinct : {1u, 3u, 300u, 5000u, 0xffffffffu}) {
    Values values(3000);
    for (std::uint32_t& value : values) {
      const double u = random() / 4294967296.0;
      value = static_cast<std::uint32_t>(u * u * distinct) * 2654435761u;
    }
    const std::string bytes = encoded(values);
    files::BytesReader from(bytes);
    PackedColumn column(from, values.size());
    CHECK(from.empty());
    Values parts;
    while (parts.size() < values.size()) {
      const std::size_t count = std::min<std::size_t>(random() % 40, values.size() - parts.size());
      parts.resize(parts.size() + count);
      column.prefetch(count);
      column.next(count, parts.data() + parts.size() - count);
    }
    CHECK(parts == values);
  }
}

TEST_CASE("a column of few values is short, one of random values no longer than it was") {
  CHECK(encoded(Values(8000, 42)).size() == 5);
  Values few(8000), rare(8000);
  std::mt19937 random(2);
  for (std::uint32_t& value : few) value = random() % 100 * 2654435761u;
  for (std::uint32_t& value : rare) value = static_cast<std::uint32_t>(random());
  CHECK(encoded(few).size() < 8000 + 500);
  CHECK(encoded(rare).size() == 1 + 4 * 8000);
}

TEST_CASE("a code without a value is refused") {
  // Kind 2, two values, codes 0 1 0, no escapes.
  std::string bytes = {2, 2, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  CHECK(decoded(bytes, 3) == Values{7, 9, 7});
  for (const char code : {2, 127, -2}) {
    bytes[14] = code;
    files::BytesReader from(bytes);
    CHECK_THROWS_AS(PackedColumn(from, 3), files::BytesReader::BadBytes);
  }
}

TEST_CASE("a column that is cut or makes no sense is refused") {
  Values values;
  for (std::uint32_t i = 0; i < 600; ++i) values.push_back(i < 300 ? i % 3 : i * 2654435761u);
  const std::string bytes = encoded(values);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Values out(values.size());
    files::BytesReader from(std::string_view(bytes).substr(0, size));
    CHECK_THROWS_AS(decode_column(from, out.size(), out.data()), files::BytesReader::BadBytes);
  }
  // Any one byte changed: refused, or decoded to something; never beyond its bounds (ASan).
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(bad[at] ^ change);
      Values out(values.size());
      files::BytesReader from(bad);
      try {
        decode_column(from, out.size(), out.data());
      } catch (const files::BytesReader::BadBytes&) {
      }
    }
  }
}
