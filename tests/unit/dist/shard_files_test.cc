#include "dist/folder/shard_files.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "dist/folder/gather.h"
#include "dist/folder/manifest.h"
#include "dist/folder/shard_names.h"
#include "dist/learn/batch_reader.h"
#include "dist/learn/local_learner.h"
#include "dist/talk/agreement.h"
#include "files/faults.h"
#include "files/file_calls.h"
#include "files/temp_folder.h"
#include "kernels/dispatch.h"
#include "model/random_lines.h"
#include "model/specs_to_test.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "text/parser.h"
#include "thread_ranks.h"

namespace leveret::dist {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{1} << 26;

text::ExampleChunk parse(text::NamespaceNames& names, const std::string& lines) {
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  text::Parser(names, {}).parse(chunk);
  return chunk;
}

/// Learns whole batches and returns the model as a file.
void learn(ShardedModel& model, const std::string& lines, std::size_t first, std::size_t count) {
  text::NamespaceNames names;
  const text::ExampleChunk chunk = parse(names, lines);
  LocalLearner learner(model, names);
  predict::Outcomes outcomes;
  learner.learn(chunk, first, count, outcomes);
  learner.finish(outcomes);
}

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string gathered(const ShardedModel& model, const std::string& path) {
  modelfile::save_model(gather(model, kMemory), path);
  return bytes_of(path);
}

std::unique_ptr<ShardedModel> new_model(const spec::Spec& spec, std::uint32_t shards) {
  return std::make_unique<ShardedModel>(spec, shards, 0, shards, kMemory, kernels::active());
}

model::LineShape shape() {
  model::LineShape shape;
  shape.fields = 6;
  shape.vocabulary = 60;
  shape.late = 30;
  return shape;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

TEST_CASE("a model that was saved in a folder goes on as if nothing had happened") {
  const files::TempFolder folder;
  const std::string lines = model::random_lines(400, shape(), 7);
  for (model::NamedSpec kind : model::specs_to_test()) {
    if (kind.spec.nn_clip > 0) continue;  // not with shards
    kind.spec.batch_size = 40;
    kind.spec.nn_batch_size = 1;
    INFO(kind.name);
    const auto undisturbed = new_model(kind.spec, 3);
    learn(*undisturbed, lines, 0, 200);
    learn(*undisturbed, lines, 200, 200);

    const auto before = new_model(kind.spec, 3);
    learn(*before, lines, 0, 200);
    SingleCommunicator alone;
    save_shards(*before, alone, folder / "shards");
    const ShardFolder stored(folder / "shards");
    CHECK(stored.shards() == 3);
    const auto after = stored.load(stored.spec(), 0, 3, kMemory, kernels::active());
    CHECK(gathered(*after, folder / "a") == gathered(*before, folder / "b"));
    learn(*after, lines, 200, 200);
    CHECK(gathered(*after, folder / "a") == gathered(*undisturbed, folder / "b"));
  }
}

TEST_CASE("whether a folder can be written is known without a save, and nothing is left") {
  const files::TempFolder folder;
  const auto tried = [&](const std::string& name, unsigned size) {
    std::vector<std::string> messages(size);
    run_ranks(size, [&](Communicator& ranks) {
      try {
        try_save_shards(ranks, folder / name, ranks.rank());
      } catch (const FailedElsewhere&) {
        messages[ranks.rank()] = "elsewhere";
      } catch (const std::runtime_error& error) {
        messages[ranks.rank()] = error.what();
      }
    });
    return messages;
  };
  CHECK(tried("new", 3) == std::vector<std::string>(3));
  CHECK(tried("no/such", 2)[0].find("cannot make the folder") != std::string::npos);
  CHECK(folder.names().empty());

  SingleCommunicator alone;
  save_shards(*new_model({}, 1), alone, folder / "old");
  const std::vector<std::string> before = names_in(folder / "old");
  CHECK(tried("old", 3) == std::vector<std::string>(3));
  std::filesystem::create_directory(folder / "old/2.shard-1.lvt");
  const std::vector<std::string> messages = tried("old", 3);
  CHECK(messages[0] == "elsewhere");
  CHECK(messages[1].find("2.shard-1.lvt: cannot write this file") != std::string::npos);
  std::filesystem::remove(folder / "old/2.shard-1.lvt");
  CHECK(names_in(folder / "old") == before);
  {
    const files::Faults full(files::Fault::kNoSpace, 1);  // open, write
    CHECK(tried("new", 1)[0].find("No space left") != std::string::npos);
  }
  CHECK(folder.names() == std::vector<std::string>{"old"});
  std::ofstream(folder / "old/manifest.json") << "{";
  CHECK(tried("old", 1)[0].find("old/manifest.json") != std::string::npos);
}

TEST_CASE("a manifest says where the run was in its input") {
  const files::TempFolder folder;
  const auto model = new_model({}, 2);
  SingleCommunicator alone;
  save_shards(*model, alone, folder / "shards");
  CHECK(!ShardFolder(folder / "shards").position());
  const train::InputPosition position = {
      {"a", "-", "caf\xe9"}, 2, 12345678901, "0123456789abcdef", true};
  save_shards(*model, alone, folder / "shards", position);
  const auto stored = ShardFolder(folder / "shards").position();
  REQUIRE(stored);
  CHECK(stored->data == std::vector<std::string>{"a", "-", "caf\xef\xbf\xbd"});
  CHECK(stored->pass == 2);
  CHECK(stored->examples == 12345678901);
  CHECK(stored->checksum == "0123456789abcdef");
  CHECK(stored->ended);
}

TEST_CASE("a save removes what saves before it have left, and nothing else") {
  const files::TempFolder folder;
  const std::string path = folder / "shards";
  const auto model = new_model({}, 2);
  SingleCommunicator alone;
  save_shards(*model, alone, path);
  const auto put = [&](const char* name) { std::ofstream(path + '/' + name) << "x"; };
  for (const char* name : {"2.frame.lvt", "2.shard-0.lvt", "2.shard-17.lvt", "1.shard-2.lvt",
                           ".2.shard-1.lvt.leveret-tmp.2", ".manifest.json.leveret-tmp.2"}) {
    put(name);
  }
  const std::vector<std::string> others = {"x.shard-1.lvt",  "2.shard-.lvt",
                                           "2.shard-1.lvt2", "shard-1.lvt",
                                           "2.notes",        ".2.mine.leveret-tmp.2"};
  for (const std::string& name : others) put(name.c_str());
  save_shards(*model, alone, path);
  std::vector<std::string> expected = {"manifest.json", "2.frame.lvt", "2.shard-0.lvt",
                                       "2.shard-1.lvt"};
  expected.insert(expected.end(), others.begin(), others.end());
  std::ranges::sort(expected);
  CHECK(names_in(path) == expected);
}

/// Calls that fail, or not, by their number. As files::FileCalls has functions without state, it
/// is here.
int calls_until_failure = 0;

TEST_CASE("whichever call of a save fails, the old model is there or the new one") {
  const files::TempFolder folder;
  const std::string path = folder / "shards";
  const auto model = new_model({}, 2);
  SingleCommunicator alone;
  save_shards(*model, alone, path);
  const files::FileCalls before = files::file_calls();
  const auto failing = [](const char* from, const char* to) {
    return --calls_until_failure == 0 ? (errno = EIO, -1) : ::rename(from, to);
  };
  const auto failing_sync = [](int fd) {
    return --calls_until_failure == 0 ? (errno = EIO, -1) : ::fsync(fd);
  };
  unsigned old_ones = 0, new_ones = 0;
  for (const bool renames : {true, false}) {
    for (int call = 1;; ++call) {
      const std::uint64_t generation = ShardFolder(path).generation();
      if (renames) files::file_calls().rename = failing;
      if (!renames) files::file_calls().fsync = failing_sync;
      calls_until_failure = call;
      bool failed = false;
      try {
        save_shards(*model, alone, path);
      } catch (const std::runtime_error&) {
        failed = true;
      }
      files::file_calls() = before;
      const ShardFolder stored(path);
      CHECK_NOTHROW(stored.load(stored.spec(), 0, 2, kMemory, kernels::active()));
      // What may not be on the disk yet does not cost the files of the manifest before it.
      const bool is_new = stored.generation() != generation;
      CHECK(names_in(path).size() == (failed && is_new ? 7 : 4));
      if (!failed) break;
      ++(is_new ? new_ones : old_ones);
    }
  }
  CHECK(old_ones == 4 + 7);  // a rename and two syncs a file; but for the last one's folder
  CHECK(new_ones == 1);
}

/// What rank r has of a model.
std::unique_ptr<ShardedModel> part_of(const model::Model& whole, const Communicator& ranks) {
  const auto [first, count] = RankShards::of(8, ranks.rank(), ranks.size());
  return split(whole, 8, first, count, kMemory, kernels::active());
}

model::Model some_model() {
  spec::Spec spec;
  spec.batch_size = 40;
  const auto model = new_model(spec, 8);
  learn(*model, model::random_lines(120, shape(), 8), 0, 120);
  return gather(*model, kMemory);
}

TEST_CASE("the files do not depend on how many ranks write them, and the old ones go",
          "[threads]") {
  const files::TempFolder folder;
  const model::Model whole = some_model();
  for (const unsigned size : {1u, 2u, 4u}) {
    run_ranks(size, [&](Communicator& ranks) {
      save_shards(*part_of(whole, ranks), ranks, folder / ("of_" + std::to_string(size)));
    });
  }
  const std::vector<std::string> names = names_in(folder / "of_1");
  CHECK(names.size() == 10);  // manifest, frame, 8 shards
  for (const char* other : {"of_2", "of_4"}) {
    CHECK(names_in(folder / other) == names);
    for (const std::string& name : names) {
      CHECK(bytes_of(folder / (std::string(other) + '/' + name)) ==
            bytes_of(folder / ("of_1/" + name)));
    }
  }
  run_ranks(
      2, [&](Communicator& ranks) { save_shards(*part_of(whole, ranks), ranks, folder / "of_1"); });
  CHECK(names_in(folder / "of_1").size() == 10);
  CHECK(ShardFolder(folder / "of_1").generation() == 2);
}

TEST_CASE("what one rank cannot save leaves the old model, and nothing of the new one",
          "[threads]") {
  const files::TempFolder folder;
  const model::Model whole = some_model();
  const std::string path = folder / "shards";
  run_ranks(2, [&](Communicator& ranks) { save_shards(*part_of(whole, ranks), ranks, path); });
  const std::vector<std::string> names = names_in(path);
  // In the way of what rank 1 is to write.
  std::filesystem::create_directory(path + "/2.shard-5.lvt");
  std::vector<std::string> said(2);
  run_ranks(2, [&](Communicator& ranks) {
    try {
      save_shards(*part_of(whole, ranks), ranks, path);
    } catch (const std::exception& error) {
      said[ranks.rank()] = error.what();
    }
  });
  CHECK(said[0] == "another rank has failed");
  CHECK_THAT(said[1], Catch::Contains("2.shard-5.lvt"));
  std::filesystem::remove(path + "/2.shard-5.lvt");
  CHECK(names_in(path) == names);
  const ShardFolder stored(path);
  CHECK_NOTHROW(stored.load(stored.spec(), 0, 8, kMemory, kernels::active()));
}

TEST_CASE("a folder whose files are not those of its manifest is refused") {
  const files::TempFolder folder;
  const model::Model whole = some_model();
  const std::string path = folder / "shards";
  SingleCommunicator alone;
  save_shards(*part_of(whole, alone), alone, path);
  const auto load = [&] {
    const ShardFolder stored(path);
    stored.load(stored.spec(), 0, 8, kMemory, kernels::active());
  };
  load();
  const auto put = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(path + '/' + name, std::ios::binary) << bytes;
  };
  const std::string shard = bytes_of(path + "/1.shard-3.lvt");

  put("1.shard-3.lvt", bytes_of(path + "/1.shard-4.lvt"));
  CHECK_THROWS_WITH(load(), Catch::Contains("1.shard-3.lvt: is not the file"));
  put("1.shard-3.lvt", shard.substr(0, shard.size() / 2));
  CHECK_THROWS_WITH(load(), Catch::Contains("1.shard-3.lvt"));
  put("1.shard-3.lvt", shard);
  load();
  std::filesystem::remove(path + "/1.shard-0.lvt");
  CHECK_THROWS_WITH(load(), Catch::Contains("1.shard-0.lvt"));

  for (const char* manifest :
       {"", "{}", "[1]", R"({"format": "leveret shards", "version": 2})",
        R"({"format": "leveret shards", "version": 1, "generation": 1, "shards": [],
            "frame": {"file": "../x", "fingerprint": ""}})"}) {
    put("manifest.json", manifest);
    CHECK_THROWS_WITH(ShardFolder(path), Catch::Contains("manifest.json"));
  }
  CHECK_THROWS_WITH(ShardFolder(folder / "none"), Catch::Contains("manifest.json"));
  std::filesystem::remove(path + "/manifest.json");
  std::filesystem::create_directory(path + "/manifest.json");
  CHECK_THROWS_WITH(ShardFolder(path), Catch::Contains("manifest.json: is no regular file"));
}

TEST_CASE("a manifest that names other files of ours is refused in words") {
  const files::TempFolder folder;
  const model::Model whole = some_model();
  const std::string path = folder / "shards";
  SingleCommunicator alone;
  save_shards(*part_of(whole, alone), alone, path);
  modelfile::save_model(whole, path + "/whole.lvt");
  const auto file_of = [&](const std::string& name) {
    return ManifestFile{name,
                        store::to_hex(store::ModelFile::open(path + '/' + name).fingerprint())};
  };
  const Manifest good = manifest_from_text(bytes_of(path + "/manifest.json"));
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.files.size(); ++i) {
    for (const std::string name : {"1.frame.lvt", "1.shard-0.lvt", "1.shard-7.lvt", "whole.lvt"}) {
      if (good.files[i].name == name) continue;
      Manifest other = good;
      other.files[i] = file_of(name);
      std::ofstream(path + "/manifest.json") << to_text(other);
      INFO(i << " is " << name);
      std::string said;
      try {
        const ShardFolder stored(path);
        stored.load(stored.spec(), 0, 8, kMemory, kernels::active());
      } catch (const std::runtime_error& error) {
        said = error.what();
      }
      CHECK(said.starts_with(path + '/' + name + ": "));
      CHECK(said.find("json.exception") == std::string::npos);
      ++refused;
    }
  }
  CHECK(refused == 4 * 9 - 3);
}

TEST_CASE("files of a folder that belong to a model are known by their names") {
  for (const char* name : {"1.frame.lvt", "12.shard-0.lvt", "007.shard-41.lvt"}) {
    CHECK(is_of_a_save(name));
    CHECK(is_in_a_model(name));
  }
  for (const char* name : {"frame.lvt", ".frame.lvt", "1.frame.lvt.gz", "1.shard-.lvt",
                           "1.shard.lvt", "a1.frame.lvt", "model.lvt", "manifest.json.old", ""}) {
    CHECK_FALSE(is_in_a_model(name));
  }
  CHECK_FALSE(is_of_a_save("manifest.json"));
  CHECK(is_in_a_model("manifest.json"));

  const files::TempFolder folder;
  CHECK(names_in_model(folder / "none").empty());
  CHECK(names_in_model(folder / "").empty());
  const auto put = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  for (const char* name : {"data", "1.frame.lvt", "1.shard-0.lvt", "4.shard-0.lvt"}) put(name, "");
  const std::vector<std::string> by_name = {"1.frame.lvt", "1.shard-0.lvt", "4.shard-0.lvt"};
  CHECK(names_in_model(folder / "") == by_name);
  // What a manifest names is read whatever it is called; one that is damaged names nothing.
  std::vector<std::string> all = by_name;
  all.push_back("manifest.json");
  for (const char* manifest : {"", "{", "[1]", "{}", R"({"frame": 3, "shards": {"file": "x"}})",
                               R"({"frame": {"file": 1}, "shards": [null, "x", {"file": []}]})"}) {
    put("manifest.json", manifest);
    CHECK(names_in_model(folder / "") == all);
  }
  put("manifest.json", R"({"frame": {"file": "f"}, "shards": [{"file": "4.shard-0.lvt"}]})");
  all.insert(all.end() - 1, "f");
  CHECK(names_in_model(folder / "") == all);
}

}  // namespace
}  // namespace leveret::dist
