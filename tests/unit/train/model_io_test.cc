// Models to and from files: nothing is lost, and nothing that is wrong is believed.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "saved_model.h"

namespace leveret::train {
namespace {

constexpr std::size_t kPage = store::kPageBytes;

/// Loads the file, which may or may not work; what loads must predict and learn without a crash.
void use(const std::string& path) {
  for (const LoadBy by : {LoadBy::kMapping, LoadBy::kReading}) {
    std::unique_ptr<TrainRun> run;
    try {
      run = std::make_unique<TrainRun>(load_model(path, kTestMemory, by));
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()).find(path) == 0);
      continue;
    }
    const std::string some = cut(lines(), 0, 5) + "1 |new a |newer b c\n";
    CHECK(run->predict(some).size() == 6);
    if (by == LoadBy::kReading) run->learn(some);
  }
}

TEST_CASE("every kind of model survives its file") {
  for (const NamedSpec& kind : specs_to_test()) {
    for (const LoadBy by : {LoadBy::kMapping, LoadBy::kReading}) {
      INFO(kind.name);
      SavedModel saved(kind.spec);
      TrainRun again(load_model(saved.folder / "good", kTestMemory, by));
      CHECK(again.saved() == saved.run.saved());
      const std::string fresh = model::random_lines(30, {}, 3);
      CHECK(again.predict(fresh) == saved.run.predict(fresh));
    }
  }
}

/// linear.slots as older files have it in a hashed table: a key before each cell, and one slot
/// more.
ModelParts::Part with_keys(const ModelParts::Part& own) {
  const std::uint64_t slots = own.shape[0], words = own.shape[1] == 2 ? 4 : own.shape[1];
  const std::uint64_t cell = 4 * (own.shape[1] == 2 ? 2 : words - 1);
  ModelParts::Part former = own;
  former.shape = {slots + 1, words};
  former.bytes.assign(4 * words * (slots + 1), std::byte{});
  for (std::uint64_t i = 0; i < slots; ++i) {
    const std::byte* const from = own.bytes.data() + 4 * own.shape[1] * i;
    if (std::all_of(from, from + cell, [](std::byte b) { return b == std::byte{}; })) continue;
    former.bytes[4 * words * i] = std::byte{77};
    std::copy_n(from, cell, former.bytes.data() + 4 * words * i + 4);
  }
  return former;
}

TEST_CASE("hashed slots of older files are read") {
  int kinds = 0;
  for (const NamedSpec& kind : specs_to_test()) {
    if (kind.spec.bit_precision == 0) continue;
    ++kinds;
    for (const LoadBy by : {LoadBy::kMapping, LoadBy::kReading}) {
      INFO(kind.name);
      SavedModel saved(kind.spec);
      ModelParts old = saved.parts();
      old.part("linear.slots") = with_keys(old.part("linear.slots"));
      old.write(saved.folder / "old");
      TrainRun again(load_model(saved.folder / "old", kTestMemory, by));
      CHECK(again.saved() == saved.run.saved());
      // Neither one nor the other: as many bytes, in another shape.
      std::swap(old.part("linear.slots").shape[0], old.part("linear.slots").shape[1]);
      old.write(saved.bad());
      CHECK(complaint(saved.bad()).find("linear.slots") != std::string::npos);
    }
  }
  CHECK(kinds == 3);
}

TEST_CASE("a model that has learned nothing survives its file") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun empty(kind.spec);
    const files::TempFolder folder;
    save_model(empty.model, folder / "m");
    TrainRun again(load_model(folder / "m", kTestMemory));
    CHECK(again.saved() == empty.saved());
    CHECK(again.predict("1 |A f1\n|Z z\n1\n").size() == 3);
    again.learn(lines());
    empty.learn(lines());
    CHECK(again.saved() == empty.saved());
  }
}

TEST_CASE("namespaces beyond --max_fields are still counted after a reload") {
  model::Spec spec;
  spec.features.max_fields = 2;
  SavedModel saved(spec);
  CHECK(saved.run.model.features().fieldless() == 2);
  const auto again = load_model(saved.folder / "good", kTestMemory);
  CHECK(again.features().fieldless() == 2);
}

TEST_CASE("weights that are not finite are not saved") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  model::Spec spec;
  spec.ffm_precision = GENERATE(16, 32);
  SavedModel saved{spec};
  model::Model& m = saved.run.model;
  SECTION("row") {
    if (spec.ffm_precision == 16) return;  // all of them are finite
    m.fields()[1].set_weight(0, 2, bad);
  }
  SECTION("row state") { m.fields()[0].set_state(0, 0, bad); }
  SECTION("cell") {
    std::uint32_t some = 0;
    m.linear().for_each([&](std::uint32_t key, const float*) { some = key; });
    m.linear().find_or_insert(some)[model::kWeight2] = bad;
  }
  SECTION("dense") { m.dense()[0].weights[3] = bad; }
  SECTION("bias of a layer") { m.dense()[0].bias_state[0] = bad; }
  SECTION("group") { m.group_weights()[0] = bad; }
  SECTION("constant") { m.scalars().bias = bad; }
  SECTION("mixer") { m.scalars().second.sum[1] = bad; }
  SECTION("base rate") { m.scalars().count = bad; }
  try {
    save_model(m, saved.bad());
    FAIL("saved");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("not saved, 1 ") != std::string::npos);
  }
  CHECK(saved.folder.names() == std::vector<std::string>{"good"});
}

/// Puts `bits`, of a float or of a bfloat16, over a learned number of the part; false: it has none.
bool spoil(ModelParts::Part& part, const model::Model& model, std::uint32_t bits) {
  if (part.bytes.empty() || part.dtype == store::Dtype::kU64) return false;
  std::size_t at = 0;
  if (part.name == "linear.slots" && !model.linear().hashed()) {
    const std::size_t slot = 4 * part.shape[1];
    std::uint32_t key = 0;
    for (at = 0; at < part.bytes.size() && key == 0; at += slot) {
      std::memcpy(&key, part.bytes.data() + at, sizeof key);
    }
    if (key == 0) return false;
    at = at - slot + sizeof key;
  }
  if (part.dtype == store::Dtype::kI16) {
    const model::RowShape shape = model.row_shape();
    if (shape.state_bytes() == 2) bits >>= 16;
    std::memcpy(part.bytes.data() + model.fields()[0].shape().state_begin(), &bits,
                shape.state_bytes());
  } else {
    std::memcpy(part.bytes.data() + at, &bits, sizeof bits);
  }
  return true;
}

TEST_CASE("weights that are not finite are not loaded, though their checksums are right") {
  const std::uint32_t bits = GENERATE(0x7fc00000u, 0xffc12345u, 0x7f800000u, 0xff800000u);
  std::set<std::string> spoilt;
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      ModelParts bad = good;
      if (!spoil(bad.parts[i], saved.run.model, bits)) continue;
      bad.write(saved.bad());
      INFO(kind.name << ", section " << bad.parts[i].name);
      CHECK(complaint(saved.bad()).find("1 of its weights are not finite") != std::string::npos);
      CHECK_THROWS_WITH(load_model(saved.bad(), kTestMemory, LoadBy::kMapping),
                        Catch::StartsWith(saved.bad()) && Catch::Contains("not finite"));
      spoilt.insert(bad.parts[i].name);
    }
  }
  for (const char* name : {"linear.slots", "groups", "ffm.0.rows", "ffm.2.rows", "dense.0.weights",
                           "dense.0.bias_state", "dense.1.weights_state", "dense.0.bias_moment"}) {
    INFO(name);
    CHECK(spoilt.contains(name));
  }
}

TEST_CASE("a section that no spec asks for is verified, too") {
  SavedModel saved{model::Spec()};
  ModelParts more = saved.parts();
  more.parts.push_back({"later", store::Dtype::kU8, {5000}, std::vector<std::byte>(5000)});
  more.write(saved.bad());
  CHECK(complaint(saved.bad()).empty());
  std::vector<std::byte> bytes = files::read_bytes(saved.bad());
  bytes[bytes.size() - 5000] ^= std::byte{1};
  files::write_bytes(saved.bad(), bytes);
  CHECK(complaint(saved.bad()).find("section 'later'") != std::string::npos);
}

/// A shared mapping of a file, to change it in place.
struct Pages {
  explicit Pages(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR);
    size = static_cast<std::size_t>(::lseek(fd, 0, SEEK_END));
    void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    REQUIRE(at != MAP_FAILED);
    begin = static_cast<std::byte*>(at);
  }
  ~Pages() { ::munmap(begin, size); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::size_t size = 0;
  std::byte* begin = nullptr;
};

TEST_CASE("look-ups end in a mapped model whose file is filled with keys") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    SavedModel saved(kind.spec);
    const store::ModelFile file = store::ModelFile::open(saved.folder / "good");
    const model::Model mapped = load_model(file, kTestMemory, LoadBy::kMapping);
    const Pages pages(saved.folder / "good");
    // Counts of sights of keys that nobody asks for; no rows, which would lead out of the tables.
    for (std::size_t at = kPage; at < pages.size; at += 4) {
      const std::uint32_t word = at % 8 == 0 ? 0x12345677 : 1;
      std::memcpy(pages.begin + at, &word, sizeof word);
    }
    for (std::uint32_t hash = 0; hash < 1000; ++hash) {
      mapped.linear().find(hash * 0x9e3779b9u);
      for (const model::FieldTable& table : mapped.fields()) table.find(hash * 0x9e3779b9u);
    }
  }
}

TEST_CASE("a file of another kind is no model") {
  SavedModel saved{model::Spec()};
  saved.parts().write(saved.bad(), store::Kind::kPatch);
  CHECK(complaint(saved.bad()).find("is not a model") != std::string::npos);
}

TEST_CASE("a missing section is named") {
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      ModelParts bad = good;
      bad.parts.erase(bad.parts.begin() + static_cast<std::ptrdiff_t>(i));
      bad.write(saved.bad());
      INFO(kind.name << " without " << good.parts[i].name);
      CHECK(complaint(saved.bad()).find(good.parts[i].name) != std::string::npos);
    }
  }
}

TEST_CASE("a section of another type or shape is named") {
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      const std::string& name = good.parts[i].name;
      if (good.parts[i].bytes.empty()) continue;
      INFO(kind.name << ", section " << name);
      ModelParts bad = good;
      ModelParts::Part& part = bad.parts[i];
      // Another type for the same bytes.
      const store::Dtype dtype = good.parts[i].dtype;
      part.dtype = dtype == store::Dtype::kF32 ? store::Dtype::kU32 : store::Dtype::kF32;
      if (dtype == store::Dtype::kI16) part.dtype = store::Dtype::kBf16;
      if (dtype == store::Dtype::kU64) part.shape.back() *= 2;
      bad.write(saved.bad());
      CHECK(complaint(saved.bad()).find(name) != std::string::npos);
      // The same bytes in another shape: rows and columns would be mixed up.
      if (part.shape.size() > 1 && part.shape[0] != part.shape.back()) {
        part = good.parts[i];
        std::swap(part.shape[0], part.shape.back());
        bad.write(saved.bad());
        CHECK(complaint(saved.bad()).find(name) != std::string::npos);
      }
      // One row less, unless it is that of an index without keys, which may have any length.
      part = good.parts[i];
      if (name.ends_with(".rest")) continue;
      part.bytes.resize(part.bytes.size() / part.shape[0] * (part.shape[0] - 1));
      --part.shape[0];
      bad.write(saved.bad());
      CHECK_FALSE(complaint(saved.bad()).empty());
    }
  }
}

TEST_CASE("a header that is no JSON, or no header, is refused with the file's name") {
  SavedModel saved{model::Spec()};
  ModelParts bad = saved.parts();
  for (const char* text : {"{", "[]", "null", "{}", "1", "{\"spec\":{}}", "\xff"}) {
    bad.text = text;
    bad.write(saved.bad());
    INFO(text);
    CHECK(complaint(saved.bad()).find(saved.bad()) == 0);
  }
}

TEST_CASE("every key of the header is needed, and none makes a crash whatever its value") {
  using Json = nlohmann::ordered_json;
  const std::set<std::string> came_later = {"/spec/transform", "/spec/nn_batch_size",
                                            "/tables/state_bytes"};
  model::Spec spec;
  spec.features.interactions = {{"A", "B"}};
  SECTION("found fields") {}
  SECTION("named fields") { spec.features.fields = {{"A"}, {"B", "C"}}; }
  SECTION("transforms") {
    spec.features.transforms = feature::parse_transforms("k=Combine(A,s) s=BinnerSqrt(B)");
  }
  SavedModel saved(spec);
  const ModelParts good = saved.parts();
  const Json flat = good.header.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const Json::json_pointer at(pointer);
    INFO(pointer);
    ModelParts bad = good;
    Json& parent = bad.header[at.parent_pointer()];
    if (parent.is_object()) {
      parent.erase(at.back());
      bad.write(saved.bad());
      const std::string said = complaint(saved.bad());
      CHECK((said.find(saved.bad()) == 0 || (came_later.contains(pointer) && said.empty())));
    }
    for (const Json& other : {Json(), Json(-1), Json(5), Json(1e300), Json(4294967295u), Json("x"),
                              Json::array(), Json::array({0, 0}), Json::object()}) {
      bad = good;
      bad.header[at] = other;
      bad.write(saved.bad());
      INFO(other.dump());
      use(saved.bad());
    }
  }
}

TEST_CASE("a namespace's field that --field does not have is refused") {
  model::Spec spec;
  spec.features.fields = {{"A"}, {"B"}};
  SavedModel saved(spec);
  ModelParts bad = saved.parts();
  bad.header["namespaces"][0]["fields"] = {2};
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("field") != std::string::npos);
}

TEST_CASE("learned numbers that make no sense are refused") {
  SavedModel saved{model::Spec()};
  ModelParts bad = saved.parts();
  SECTION("no base rate") { bad.header["state"]["count"] = 0; }
  SECTION("more clicks than examples") { bad.header["state"]["clicks"] = 1e9; }
  SECTION("beyond a float") { bad.header["state"]["bias"][0] = 1e300; }
  SECTION("mixer") { bad.header["state"]["second_mixer"]["weight"][1] = 1e300; }
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("state") != std::string::npos);
}

TEST_CASE("index words that name rows that are not there are refused") {
  model::Spec spec;
  spec.admit = 1;
  spec.bit_precision = 10;  // without keys, linear cells do not say which rows there are
  SavedModel saved(spec);
  ModelParts bad = saved.parts();
  ModelParts::Part& index = bad.part("ffm.2.index");
  const std::uint64_t word = (std::uint64_t{0x80000000u | 100000} << 32) | 5;
  std::memcpy(index.bytes.data() + 8, &word, sizeof word);
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("field 2") != std::string::npos);
  const std::uint64_t half = (std::uint64_t{0x7fffffffu} << 32) | 5;
  std::memcpy(index.bytes.data() + 8, &half, sizeof half);
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("field 2") != std::string::npos);
}

TEST_CASE("tables without an empty slot are refused: a search would not end") {
  model::Spec spec;
  SavedModel saved(spec);
  ModelParts bad = saved.parts();
  SECTION("linear") {
    ModelParts::Part& slots = bad.part("linear.slots");
    const std::size_t slot = slots.bytes.size() / slots.shape[0];
    for (std::size_t i = 0; i < slots.shape[0]; ++i) slots.bytes[i * slot] = std::byte{1};
  }
  SECTION("index") {
    ModelParts::Part& index = bad.part("ffm.0.rest");
    for (std::size_t i = 0; i < index.shape[0]; ++i) index.bytes[i * 8 + 4] |= std::byte{1};
  }
  bad.write(saved.bad());
  CHECK(complaint(saved.bad()).find("no empty") != std::string::npos);
}

TEST_CASE("flipped bytes behind good checksums never crash") {
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
      ModelParts bad = good;
      for (int flips = 0; flips < 1 + round % 8; ++flips) {
        auto& bytes = bad.parts[random() % bad.parts.size()].bytes;
        if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<std::byte>(random());
      }
      bad.write(saved.bad());
      INFO(kind.name << " round " << round);
      use(saved.bad());
    }
  }
}

TEST_CASE("flipped characters of the header never crash") {
  SavedModel saved{model::Spec()};
  ModelParts bad = saved.parts();
  const std::string good = bad.header.dump();
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    bad.text = good;
    const std::size_t at = random() % good.size();
    // Digits stay digits half the time, so that many are still JSON.
    bad.text[at] =
        random() % 2 == 0 ? static_cast<char>('0' + random() % 10) : static_cast<char>(random());
    bad.write(saved.bad());
    INFO(bad.text);
    use(saved.bad());
  }
}

}  // namespace
}  // namespace leveret::train
