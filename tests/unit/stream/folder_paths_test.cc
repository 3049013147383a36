// A folder that fills gives its files in the order of their names, each to its end.
#include "stream/folder_paths.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "files/temp_folder.h"
#include "stream/text_reader.h"

namespace leveret::stream {
namespace {

using Catch::Contains;

void write_text(const std::string& path, std::string_view text) {
  files::write_bytes(path, std::as_bytes(std::span(text)));
}

/// As who fills a folder does it.
void put(const files::TempFolder& folder, const std::string& name, std::string_view text) {
  write_text(folder / ".new", text);
  std::filesystem::rename(folder / ".new", folder / name);
}

class Told : public SourceEvents {
 public:
  bool wants(std::uint32_t, const std::string& path) override { return !path.ends_with(refused); }
  void late(const std::string& path, const std::string& last) override {
    all.push_back("late " + std::filesystem::path(path).filename().string() + " " + last);
  }
  void before(const std::vector<std::string>& paths, const std::string& last) override {
    for (const std::string& path : paths) CHECK(std::filesystem::exists(path));
    all.push_back(std::to_string(paths.size()) + " before " + last);
  }
  void bytes(std::uint32_t, std::string_view) override {}
  void ended(std::uint32_t source) override { all.push_back("end " + std::to_string(source)); }

  std::string refused = "?";
  std::vector<std::string> all;
};

std::string name_of(const std::optional<std::string>& path) {
  return path ? std::filesystem::path(*path).filename().string() : "none";
}

TEST_CASE("files come in the order of their names, and those that are not whole do not") {
  const files::TempFolder folder;
  std::filesystem::create_directory(folder / "a.folder");
  for (const char* name : {"b", "a", "c.tmp", "c.part", ".d"}) write_text(folder / name, "x");
  StopFlag stop;
  FolderPaths paths(folder / "", "", nullptr, stop);
  CHECK(name_of(paths.next()) == "a");
  write_text(folder / "aa", "x");
  CHECK(name_of(paths.next()) == "aa");
  CHECK(name_of(paths.next()) == "b");
  std::filesystem::rename(folder / "c.part", folder / "c");
  CHECK(name_of(paths.next()) == "c");
  stop.raise();
  CHECK(name_of(paths.next()) == "none");
}

TEST_CASE("a file that comes is waited for, and a stop ends that") {
  const files::TempFolder folder;
  StopFlag stop;
  FolderPaths paths(folder / "", "", nullptr, stop);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    put(folder, "1", "x");
  });
  CHECK(name_of(paths.next()) == "1");
  writer.join();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.raise();
  });
  CHECK(name_of(paths.next()) == "none");
  stopper.join();
}

TEST_CASE("names that are not behind the last one are told, once") {
  const files::TempFolder folder;
  for (const char* name : {"a", "b", "c", "e"}) write_text(folder / name, "x");
  StopFlag stop;
  Told told;
  FolderPaths paths(folder / "", "c", &told, stop);
  CHECK(told.all == std::vector<std::string>{"3 before c"});
  CHECK(name_of(paths.next()) == "e");
  put(folder, "d", "x");
  put(folder, "f", "x");
  CHECK(name_of(paths.next()) == "f");
  put(folder, "g", "x");
  CHECK(name_of(paths.next()) == "g");
  CHECK(told.all == std::vector<std::string>{"3 before c", "late d e"});
}

TEST_CASE("a folder that is none, or goes away, is an error") {
  const files::TempFolder folder;
  StopFlag stop;
  CHECK_THROWS_WITH(FolderPaths(folder / "no", "", nullptr, stop), Contains("cannot read"));
  std::filesystem::create_directory(folder / "sub");
  FolderPaths paths(folder / "sub", "", nullptr, stop);
  std::filesystem::remove(folder / "sub");
  CHECK_THROWS_WITH(paths.next(), Contains("cannot read"));
}

/// Chunks as "source:text", the end of a source as "source:".
std::vector<std::string> read_all(TextReader& reader, std::size_t until) {
  std::vector<std::string> all;
  text::ExampleChunk chunk;
  while (all.size() < until && reader.next(chunk)) {
    CHECK(chunk.ends_source == chunk.bytes.empty());
    all.push_back(std::to_string(chunk.source) + ":" + chunk.bytes);
  }
  return all;
}

TEST_CASE("a reader of a folder tells where each file ends, and reads none in part") {
  const files::TempFolder folder;
  put(folder, "1", "a\nb");
  put(folder, "2", "");
  put(folder, "3", "again\n");
  put(folder, "4", "c\n");
  Told told;
  told.refused = "/3";
  ReaderOptions options;
  options.events = &told;
  options.follow_after = "";
  TextReader reader({folder / ""}, options);
  CHECK(read_all(reader, 6) == std::vector<std::string>{"0:a\nb", "0:", "1:", "2:", "3:c\n", "3:"});
  CHECK(reader.source_name(3) == folder / "" + "/4");
  put(folder, "5", std::string(1'000'000, 'x') + "\nlast");
  std::string text;
  text::ExampleChunk chunk;
  for (bool ended = false; !ended && reader.next(chunk); ended = chunk.ends_source) {
    reader.stop();  // what was begun is read to its end
    text += chunk.bytes;
  }
  CHECK(text.size() == 1'000'005);
  CHECK_FALSE(reader.next(chunk));
  CHECK(told.all == std::vector<std::string>{"end 0", "end 1", "end 3", "end 4"});
}

}  // namespace
}  // namespace leveret::stream
