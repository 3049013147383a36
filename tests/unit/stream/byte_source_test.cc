#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <thread>

#include "helpers.h"
#include "stream/byte_source.h"
#include "stream/decoder.h"
#include "stream/sniff.h"

using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;

namespace {

std::string read_file(const std::string& path, std::string* error = nullptr) {
  return drain(*open_source(path), error);
}

/// `bytes` through a pipe, `step` at a time.
std::string read_piped(std::string_view bytes, std::size_t step) {
  Pipe pipe;
  const auto source = open_source(pipe.path());
  std::thread writer([&] {
    for (std::size_t at = 0; at < bytes.size(); at += step) pipe.write(bytes.substr(at, step));
    pipe.end();
  });
  std::string got = drain(*source);
  writer.join();
  return got;
}

}  // namespace

TEST_CASE("a source is what its first bytes say") {
  const TempDir dir;
  const std::string text = some_lines(20000);
  const std::string half_a = text.substr(0, 100000), half_b = text.substr(100000);
  CHECK(read_file(dir.write("plain", text)) == text);
  CHECK(read_file(dir.write("gz", gzip(text))) == text);
  CHECK(read_file(dir.write("zst", zstd(text))) == text);
  CHECK(read_file(dir.write("zst-unknown-size", zstd(text, false))) == text);
  CHECK(read_file(dir.write("gz2", gzip(half_a) + gzip("") + gzip(half_b))) == text);
  CHECK(read_file(dir.write("gz-padded", gzip(text) + std::string(1000, '\0'))) == text);
  CHECK(read_file(dir.write("zst2", zstd_skippable("first") + zstd(half_a) + zstd("") +
                                        zstd_skippable(std::string(300000, 'x')) +
                                        zstd(half_b, false) + zstd_skippable(""))) == text);
  CHECK(read_file(dir.write("long-window", zstd(text, false, 27))) == text);
  CHECK(read_file(dir.write("empty", "")).empty());
  CHECK(read_file(dir.write("empty.gz", gzip(""))).empty());
  CHECK(read_file(dir.write("short", "(")) == "(");  // begins as zstd does
  CHECK(read_file(dir.write("short", "P")) == "P");  // begins as a skippable frame does
}

TEST_CASE("a pipe of any step gives the same bytes") {
  const std::string text = some_lines(300);
  const std::string packed_gzip = gzip(text) + gzip(text) + std::string(5, '\0');
  const std::string packed_zstd = zstd(text) + zstd_skippable("s") + zstd(text, false);
  for (const std::size_t step : {1, 2, 3, 7, 100, 100000}) {
    CHECK(read_piped(text, step) == text);
    CHECK(read_piped(packed_gzip, step) == text + text);
    CHECK(read_piped(packed_zstd, step) == text + text);
  }
}

TEST_CASE("reading by single bytes gives the same bytes") {
  const TempDir dir;
  const std::string text = some_lines(200);
  for (const std::string& bytes : {text, gzip(text), zstd(text), zstd(text, false)}) {
    CHECK(drain(*open_source(dir.write("f", bytes)), nullptr, 1) == text);
  }
}

TEST_CASE("the first bytes of a pipe are passed on while its writer waits") {
  Pipe pipe;
  const auto source = open_source(pipe.path());
  char buffer[64];
  CHECK_FALSE(source->try_read(buffer, sizeof buffer));
  pipe.write("1\n");
  REQUIRE(source->read(buffer, sizeof buffer) == 2);  // hangs when it wants more than is there
  CHECK_FALSE(source->try_read(buffer, sizeof buffer));
  pipe.write("P");
  REQUIRE(source->read(buffer, sizeof buffer) == 1);
}

TEST_CASE("what a packer flushed is unpacked while the writer waits") {
  const std::string text = some_lines(10);
  const std::string packed = zstd(text, false);
  Pipe pipe;
  const auto source = open_source(pipe.path());
  pipe.write(std::string_view(packed).substr(0, packed.size() / 2 + 20));
  char first;
  REQUIRE(source->read(&first, 1) == 1);
  CHECK(first == text[0]);
}

TEST_CASE("sockets and named pipes are sources") {
  const TempDir dir;
  const std::string path = dir.path("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const auto source = open_source(path);  // must not wait for the writer
  char byte;
  CHECK_FALSE(source->try_read(&byte, 1));  // and not take its absence for the end
  std::thread writer([&] { std::ofstream(path) << gzip("1 |a b\n"); });
  CHECK(drain(*source) == "1 |a b\n");
  writer.join();
}

TEST_CASE("a stream cut at any length gives what it holds, then an error") {
  const TempDir dir;
  const std::string text = some_lines(60);
  const std::string first = text.substr(0, 600);
  const std::string packed[] = {gzip(first) + gzip(text), zstd(first) + zstd(text, false)};
  const std::size_t boundary[] = {gzip(first).size(), zstd(first).size()};
  for (int format = 0; format < 2; ++format) {
    std::size_t longest = 0;
    for (std::size_t size = 4; size < packed[format].size(); ++size) {
      std::string error;
      const auto source = open_source(dir.write("cut", packed[format].substr(0, size)));
      const std::string got = drain(*source, &error);
      CHECK((first + text).compare(0, got.size(), got) == 0);
      CHECK(got.size() >= longest);  // more input never means less output
      longest = got.size();
      if (size == boundary[format]) {
        CHECK(error.empty());
        CHECK(got == first);
      } else {
        CHECK_THAT(error, Contains("truncated") && Contains("cut") &&
                              Contains("byte " + std::to_string(size)));
        if (size > boundary[format]) CHECK(got.size() >= first.size());
      }
    }
    CHECK(longest > first.size());
  }
}

TEST_CASE("a corrupt byte is found, and what precedes it is delivered") {
  const TempDir dir;
  const std::string text = some_lines(100000);  // several zstd blocks
  for (const bool use_zstd : {false, true}) {
    const std::string good = use_zstd ? zstd(text) : gzip(text);
    for (std::size_t at = 4; at < good.size(); at += good.size() / 40 + 1) {
      if (!use_zstd && at < 10) continue;  // time and OS of the gzip header mean nothing
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      std::string error;
      const std::string got = read_file(dir.write("bad", bad), &error);
      CHECK_THAT(error, Contains("broken at compressed byte"));
      // What the bytes before the fault alone decode to. (After it, wrong text may come until a
      // checksum tells; that is the format's limit.)
      std::string truncated;
      const std::string sure = read_file(dir.write("cut", good.substr(0, at)), &truncated);
      CHECK(text.compare(0, sure.size(), sure) == 0);
      CHECK(got.compare(0, sure.size(), sure) == 0);
      if (at > good.size() / 2) CHECK(!sure.empty());
    }
  }
}

TEST_CASE("every whole zstd block before a fault is delivered") {
  const TempDir dir;
  const std::string text = some_lines(40000);
  const std::string good = zstd(text, false, 17);
  // Walk the block headers (RFC 8878, 3.1.1.2) and break each in turn by the reserved type 3.
  std::size_t at = 4 + 2;  // magic, descriptor, window
  std::size_t blocks = 0;
  for (;;) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(good[at + i]); };
    const unsigned header = byte(0) | byte(1) << 8 | byte(2) << 16;
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] | 0x06);
    std::string error;
    const std::string got = read_file(dir.write("bad", bad), &error);
    CHECK_THAT(error, Contains("zstd stream is broken"));
    CHECK(text.compare(0, got.size(), got) == 0);
    CHECK(got.size() >= blocks * 1000);
    if (blocks > 0) CHECK(!got.empty());
    if (header & 1) {
      CHECK(got.size() > text.size() / 2);
      break;
    }
    at += 3 + (header >> 3);
    ++blocks;
  }
  CHECK(blocks >= 4);
}

TEST_CASE("garbage after the packed data is an error, not more data") {
  const TempDir dir;
  std::string error;
  CHECK(read_file(dir.write("g", gzip("1 |a\n") + "1 |b\n"), &error) == "1 |a\n");
  CHECK_THAT(error, Contains("data after the end"));
  error.clear();
  CHECK(read_file(dir.write("z", zstd("1 |a\n") + "1 |b\n"), &error) == "1 |a\n");
  CHECK_THAT(error, Contains("data after the end"));
}

TEST_CASE("a window that is too large is refused") {
  // Frame header: magic, descriptor 0 (window follows), window 2^31.
  const TempDir dir;
  std::string error;
  const std::string frame = "\x28\xb5\x2f\xfd" + std::string("\0\xa8", 2) + std::string(20, 'x');
  CHECK(read_file(dir.write("w", frame), &error).empty());
  CHECK_THAT(error, Contains("window") && Contains("--long=30"));
}

TEST_CASE("what cannot be read is said at once") {
  const TempDir dir;
  CHECK_THROWS_WITH(open_source(dir.path("none")), Contains("none") && Contains("No such file"));
  CHECK_THROWS_WITH(open_source(dir.path("")), Contains("is a directory"));
  const std::string secret = dir.write("secret", "1 |a\n");
  chmod(secret.c_str(), 0);
  if (geteuid() != 0) CHECK_THROWS_WITH(open_source(secret), Contains("permission"));
}

TEST_CASE("binary files are named") {
  const TempDir dir;
  const auto message = [&](const std::string& bytes) {
    std::string error;
    CHECK(read_file(dir.write("b", bytes), &error).empty());
    return error;
  };
  const std::string nuls(3000, '\0');
  CHECK_THAT(message("\x7f"
                     "ELF" +
                     nuls),
             Contains("ELF program"));
  CHECK_THAT(message("PK\x03\x04" + nuls), Contains("zip archive"));
  CHECK_THAT(message("PAR1\x15\x04" + nuls), Contains("Parquet"));
  CHECK_THAT(message("\x89PNG\r\n" + nuls), Contains("PNG"));
  CHECK_THAT(message(std::string("\xfd"
                                 "7zXZ\0",
                                 6) +
                     nuls),
             Contains("xz -dc"));
  CHECK_THAT(message("BZh91AY&SY" + nuls), Contains("bzip2 -dc"));
  CHECK_THAT(message("\x04\x22\x4d\x18" + nuls), Contains("lz4"));
  CHECK_THAT(message(std::string("\xff\xfe"
                                 "1\0",
                                 4)),
             Contains("UTF-16"));
  CHECK_THAT(message("x" + nuls), Contains("binary data"));
  CHECK_THAT(message(gzip(std::string(257, 'n') + "ustar" + nuls)),
             Contains("unpacked") && Contains("tar"));
  // One NUL in a line is data.
  const std::string line("1 |a b\0c\n", 9);
  CHECK(read_file(dir.write("t", line)) == line);
}

TEST_CASE("a compressed file that is cut off within its first bytes is no text") {
  const TempDir dir;
  using Catch::Contains;
  const auto message = [&](std::string_view content) {
    const std::string path = dir.write("t", std::string(content));
    try {
      return "read: " + read_file(path);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  for (const char* zstd :
       {"\x28\xb5", "\x28\xb5\x2f", "\x28\xb5\x2f\xfd", "P*M", "_*M", "P*M\x18"}) {
    INFO(zstd);
    CHECK_THAT(message(zstd), Contains("zstd stream is broken") && Contains("truncated"));
  }
  for (const char* gzip : {"\x1f", "\x1f\x8b", "\x1f\x8b\x08"}) {
    CHECK_THAT(message(gzip), Contains("gzip stream is broken") && Contains("truncated"));
  }
  for (const std::string text : {"", "(", "P", "_", "P*", "(1", "P*N", "\xef", "B", "BZ"}) {
    CHECK(message(text) == "read: " + text);
  }
}

TEST_CASE("sniffing never asks for more after a line end") {
  for (int first = 0; first < 256; ++first) {
    const char line[] = {static_cast<char>(first), '\n'};
    CHECK(sniff(std::string_view(line, 2)).format == Format::kText);
  }
  for (const char* text : {"1 ", "-1", "|a", "'t", "\xef\xbb\xbf"}) {
    CHECK(sniff(text).format == Format::kText);
  }
}

TEST_CASE("progress counts the bytes of the packed file") {
  const TempDir dir;
  const std::string packed = gzip(some_lines(50000));
  const auto source = open_source(dir.write("f", packed));
  CHECK(source->bytes_consumed() == 0);
  REQUIRE(source->bytes_total() == packed.size());
  drain(*source);
  CHECK(source->bytes_consumed() == packed.size());
  Pipe pipe;
  CHECK_FALSE(open_source(pipe.path())->bytes_total());
}

TEST_CASE("the stop flag ends a wait") {
  StopFlag stop;
  Pipe pipe;
  const auto source = open_source(pipe.path(), &stop);
  std::thread stopper([&] { stop.raise(); });
  char byte;
  CHECK(source->read(&byte, 1) == 0);
  stopper.join();
}
