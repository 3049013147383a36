#include "train/chunk_ledger.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "files/file_state.h"
#include "files/temp_folder.h"
#include "store/model_file.h"
#include "train/chunk_watch.h"
#include "train/notes.h"

namespace leveret::train {
namespace {

ChunkHash hash_of(const std::string& text, std::size_t step = 1000) {
  ChunkHasher hasher;
  for (std::size_t at = 0; at < text.size(); at += step) {
    hasher.add(std::string_view(text).substr(at, step));
  }
  return hasher.get();
}

ChunkHash numbered(std::uint64_t number) { return {number, number % 7 + 1, number * 3}; }

void write_text(const std::string& path, std::string_view text) {
  files::write_bytes(path, std::as_bytes(std::span(text)));
}

std::string text_of(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "1 |a " + std::to_string(text.size()) + '\n';
  return text.substr(0, bytes);
}

TEST_CASE("a chunk is its bytes, however they come") {
  const std::string text = text_of(200'000);
  CHECK(hash_of(text, 1) == hash_of(text, 100'000));
  CHECK(hash_of(text) != hash_of(text.substr(1)));
  CHECK(hash_of(text).head == hash_of(text.substr(0, ChunkHash::kHeadBytes)).head);
  CHECK(hash_of(text).head != hash_of(text.substr(0, ChunkHash::kHeadBytes - 1)).head);
}

TEST_CASE("a ledger knows all, in the order in which they came") {
  ChunkLedger ledger;
  CHECK(ledger.empty());
  constexpr std::uint64_t kMany = 20'000;
  for (std::uint64_t i = kMany; i-- > 0;) ledger.add(numbered(i));
  ledger.add(numbered(5));
  REQUIRE(ledger.entries().size() == kMany);
  CHECK(ledger.entries().front() == ChunkLedger::entry_of(numbered(kMany - 1)));
  for (std::uint64_t i = 0; i < kMany; ++i) REQUIRE(ledger.has(numbered(i)));
  CHECK_FALSE(ledger.has(numbered(kMany)));
  CHECK_FALSE(ledger.has({5, 6, 16}));  // it has another head
  REQUIRE(ledger.ends_of_head(15) != nullptr);
  CHECK(*ledger.ends_of_head(15) == std::set<std::uint32_t>{6});
  CHECK(ledger.ends_of_head(16) == nullptr);
  CHECK(ledger.may_have_bytes(7));
  CHECK_FALSE(ledger.may_have_bytes(8));
  ledger.add(ChunkHash{kMany, std::uint64_t{1} << 32, 0});
  CHECK(ledger.may_have_bytes(8));  // one of them has nobody knows how many
}

TEST_CASE("a file that has grown begins with what was learned, wherever that ended") {
  const files::TempFolder folder;
  const std::string text = text_of(200'000);
  for (const std::size_t end : {1, 7, 30'000, 65'535, 65'536, 65'537, 100'000, 199'999}) {
    ChunkLedger ledger;
    ledger.add(hash_of("another"));
    ledger.add(hash_of(text.substr(0, end)));
    write_text(folder / "text", text);
    LedgerFind found = find_learned(ledger, folder / "text");
    CHECK_FALSE(found.learned);
    CHECK(found.begins_with == end);
    write_text(folder / "text", text.substr(1));
    CHECK(find_learned(ledger, folder / "text").begins_with == 0);
    write_text(folder / "text", text.substr(0, end));
    found = find_learned(ledger, folder / "text");
    CHECK(found.learned);
    CHECK(found.begins_with == 0);
    ledger.add(hash_of(text.substr(0, end + 1)));  // the longest is told
    write_text(folder / "text", text + "more");
    CHECK(find_learned(ledger, folder / "text").begins_with == end + 1);
  }
}

TEST_CASE("files are found by what is in them") {
  const files::TempFolder folder;
  const std::string text = text_of(150'000), other = text.substr(0, 149'999);
  write_text(folder / "text", text);
  write_text(folder / "other", other);
  write_text(folder / "empty", "");
  ChunkLedger ledger;
  CHECK_FALSE(find_learned(ledger, folder / "text").learned);
  ledger.add(hash_of(text));
  CHECK(find_learned(ledger, folder / "text").learned == hash_of(text));
  CHECK_FALSE(find_learned(ledger, folder / "other").learned);  // it has the same head
  CHECK_FALSE(find_learned(ledger, folder / "empty").learned);
  CHECK_FALSE(find_learned(ledger, folder / "missing").learned);
  CHECK_FALSE(find_learned(ledger, "/dev/null").learned);
  CHECK(hash_of_file(folder / "other", nullptr) == hash_of(other));
  stream::StopFlag stop;
  stop.raise();
  CHECK_FALSE(hash_of_file(folder / "other", &stop));
}

TEST_CASE("a watch has the sources that have ended, and have something") {
  ChunkWatch watch;
  watch.bytes(0, "a");
  watch.bytes(0, "b");
  watch.ended(0);
  watch.ended(1);
  watch.bytes(2, "c");
  CHECK_FALSE(watch.take_before(0));
  const auto first = watch.take_before(3);
  REQUIRE(first);
  CHECK(first->source == 0);
  CHECK(first->chunk == hash_of("ab"));
  CHECK_FALSE(watch.take_before(3));  // source 2 goes on
  watch.ended(2);
  CHECK_FALSE(watch.take_before(2));
  REQUIRE(watch.take_before(3));
  CHECK_FALSE(watch.take_before(9));
  // Taken or not, a cache keeps the sums of all.
  const std::vector<stream::TextSum> sums = watch.sums(3);
  REQUIRE(sums.size() == 3);
  CHECK(ChunkHash::of_sum(sums[0]) == hash_of("ab"));
  CHECK(sums[1] == stream::TextSum{});
  CHECK(ChunkHash::of_sum(sums[2]) == hash_of("c"));
}

TEST_CASE("a source that is read again is what it gave that time") {
  ChunkWatch watch;
  for (const std::string text : {"ab", "ab", "xyz"}) {
    watch.bytes(0, text);
    CHECK(watch.end(0) == hash_of(text));
  }
  CHECK_FALSE(watch.end(0));
}

TEST_CASE("a file that is written while it is read, or later, has changed") {
  const files::TempFolder folder;
  const auto taken_after = [&](const auto& change) {
    ChunkWatch watch;
    write_text(folder / "a", "1 |a b\n");
    watch.begins(0, folder / "a", files::state_of(folder / "a"));
    watch.bytes(0, "1 |a b\n");
    watch.ended(0);
    change();
    const auto taken = watch.take_before(1);
    REQUIRE(taken);
    CHECK(taken->path == folder / "a");
    return taken->has_changed();
  };
  CHECK_FALSE(taken_after([] {}));
  CHECK(taken_after([&] { write_text(folder / "a", "1 |a b\n1 |a c\n"); }));
  CHECK(taken_after([&] { write_text(folder / "a", "1 |a c\n"); }));
  CHECK(taken_after([&] { write_text(folder / "a", "1 |a"); }));
  // The same bytes again are no change, and what is gone cannot be compared.
  CHECK_FALSE(taken_after([&] {
    write_text(folder / "b", "1 |a b\n");
    std::filesystem::rename(folder / "b", folder / "a");
  }));
  CHECK_FALSE(taken_after([&] { std::filesystem::remove(folder / "a"); }));
}

Notes saved(const Notes& notes) {
  const files::TempFolder folder;
  store::write_model_file(folder / "m", store::Kind::kModel, "{}", {}, to_bytes(notes));
  return notes_of(store::ModelFile::open(folder / "m"));
}

TEST_CASE("notes are in a file what they were, whatever bytes names have") {
  Notes notes;
  CHECK(to_bytes(notes).empty());
  CHECK(saved(notes).chunks.empty());
  for (std::uint64_t i = 0; i < 100; ++i) notes.chunks.add(numbered(i));
  notes.followed = "2026-11-26T12:05\xff\xe4 \"\\\n.vw";
  notes.input = InputPosition{.data = {"a b", "\xc3\xbc\xff"},
                              .pass = 2,
                              .examples = 1234,
                              .checksum = "00ff",
                              .ended = true};
  notes.best_pass = BestPass{10, 3, 0.1 + 0.2};
  const Notes got = saved(notes);
  CHECK(got.chunks.entries() == notes.chunks.entries());
  CHECK(got.followed == notes.followed);
  REQUIRE(got.input);
  CHECK(got.input->data == notes.input->data);
  CHECK(got.input->pass == 2);
  CHECK(got.input->examples == 1234);
  CHECK(got.input->checksum == "00ff");
  CHECK(got.input->ended);
  CHECK(got.best_pass == notes.best_pass);
}

TEST_CASE("notes that are not ours are refused") {
  const files::TempFolder folder;
  const auto check_refused = [&](const std::string& header,
                                 const std::vector<store::SectionView>& sections = {}) {
    INFO(header);
    store::write_model_file(folder / "m", store::Kind::kModel, "{}", {},
                            store::make_notes(header, sections));
    const store::ModelFile file = store::ModelFile::open(folder / "m");
    CHECK_THROWS_AS(notes_of(file), std::runtime_error);
  };
  for (const char* header :
       {"", "{", "[1]", R"({"followed":1})", R"({"followed":"\u0100"})", R"({"input":1})",
        R"({"input":{"data":[],"pass":0,"examples":-1,"checksum":"","ended":false}})",
        R"({"held_out":1})", R"({"held_out":{"period":0,"best_pass":1,"loss":0.5}})",
        R"({"held_out":{"period":10,"best_pass":1,"loss":null}})"}) {
    check_refused(header);
  }
  const std::vector<std::uint64_t> numbers(4);
  check_refused("{}", {store::make_section<std::uint64_t>("learned.chunks", store::Dtype::kU64,
                                                          {1, 4}, {}, numbers)});
  check_refused("{}", {store::make_section<std::uint64_t>("learned.chunks", store::Dtype::kU64, {4},
                                                          {}, numbers)});
}

}  // namespace
}  // namespace leveret::train
