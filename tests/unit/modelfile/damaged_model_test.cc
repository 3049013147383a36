// Models from files that are wrong: nothing of that is believed, though the checksums are right.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "modelfile/header.h"
#include "modelfile/saved_model.h"
#include "spec/json.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;

/// Loads the file, which may or may not work; what loads must predict and learn without a crash.
void use(const std::string& path) {
  for (const Way& way : kWays) {
    std::unique_ptr<TrainRun> run;
    try {
      run = std::make_unique<TrainRun>(load_model(path, kTestMemory, way.use, way.by));
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()).find(path) == 0);
      continue;
    }
    const std::string some = cut(lines(), 0, 5) + "1 |new a |newer b c\n";
    CHECK(run->predict(some).size() == 6);
    if (way.use == Use::kLearn) run->learn(some);
  }
}

/// Puts `bits`, of a float, over the first number of a part of learned numbers; false: it has none.
bool spoil(ModelParts::Part& part, std::uint32_t bits) {
  if (part.bytes.empty()) return false;
  if (part.dtype == store::Dtype::kF32) {
    std::memcpy(part.bytes.data(), &bits, sizeof bits);
  } else if (part.dtype == store::Dtype::kF64) {
    const auto number = static_cast<double>(std::bit_cast<float>(bits));
    std::memcpy(part.bytes.data(), &number, sizeof number);
  } else if (part.dtype == store::Dtype::kBf16) {
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(part.bytes.data(), &upper, sizeof upper);
  } else {
    return false;
  }
  return true;
}

/// Which sections have been tried: most models have the same ones, and two of each do.
class Tried {
 public:
  bool enough(const ModelParts::Part& part) {
    return ++times_[std::pair(part.name, part.dtype)] > 2;
  }

 private:
  std::map<std::pair<std::string, store::Dtype>, int> times_;
};

TEST_CASE("weights that are not finite are not loaded") {
  const std::uint32_t bits = GENERATE(0x7fc00000u, 0xffc12345u, 0x7f800000u, 0xff800000u);
  std::set<std::string> spoilt;
  Tried tried;
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      ModelParts bad = good;
      const std::string& name = bad.parts[i].name;
      if (!spoil(bad.parts[i], bits) || tried.enough(bad.parts[i])) continue;
      bad.write(saved.bad());
      for (const Way& way : kWays) {
        INFO(kind.name << ", section " << name << ", " << way.name);
        const std::string said = complaint(saved.bad(), way.use, way.by);
        // Nobody reads states to predict.
        if (way.use == Use::kPredict && bad.parts[i].declared.role == store::Role::kState) {
          CHECK(said.empty());
        } else {
          CHECK_THAT(said, Catch::StartsWith(saved.bad()) &&
                               (Catch::Contains("1 of its weights are not finite") ||
                                Catch::Contains("impossible base rate")));
        }
      }
      spoilt.insert(name);
    }
  }
  for (const char* name :
       {"cells.weight", "cells.largest_value", "rest.weight", "rest.sum", "field.1.count",
        "field.0.fast", "field.0.largest.values", "field.0.rows.0.weights",
        "field.2.rows.0.state.0", "groups.weight", "groups.sum", "base_rate.count",
        "constant.weight", "second_mixer.log_share", "dense.0.weights", "dense.0.bias_state",
        "dense.1.weights_state", "dense.0.bias_moment"}) {
    INFO(name);
    CHECK(spoilt.contains(name));
  }
}

TEST_CASE("a missing section is named") {
  Tried tried;
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      if (tried.enough(good.parts[i])) continue;
      ModelParts bad = good;
      const std::string name = good.parts[i].name;
      if (name.ends_with(".ages")) continue;  // without them all features are young
      bad.erase(i);
      bad.write(saved.bad());
      INFO(kind.name << " without " << name);
      // Largest values are there where features need them.
      const std::string named = name.ends_with("largest.keys") ? "largest.values" : name;
      CHECK_THAT(complaint(saved.bad()), Catch::Contains(named));
    }
  }
}

TEST_CASE("a section of another type or shape is named") {
  Tried tried;
  for (const NamedSpec& kind : specs_to_test()) {
    SavedModel saved(kind.spec);
    const ModelParts good = saved.parts();
    for (std::size_t i = 0; i < good.parts.size(); ++i) {
      const std::string& name = good.parts[i].name;
      if (good.parts[i].bytes.empty() || tried.enough(good.parts[i])) continue;
      if (good.parts[i].declared.keys == i + 1) continue;  // see damaged_tables_test.cc
      INFO(kind.name << ", section " << name);
      ModelParts bad = good;
      ModelParts::Part& part = bad.parts[i];
      // Another type for the same bytes; those that share bytes have none, and are floats by their
      // coding.
      const store::Dtype dtype = good.parts[i].dtype;
      const bool in_pairs = store::dtype_bits(dtype) % 8 != 0;
      part.declared.coding = store::Coding::kPlain;
      part.declared.scale = 1;
      part.dtype = dtype == store::Dtype::kF32   ? store::Dtype::kU32
                   : dtype == store::Dtype::kU32 ? store::Dtype::kF32
                   : dtype == store::Dtype::kF64 ? store::Dtype::kU64
                   : dtype == store::Dtype::kU64 ? store::Dtype::kF64
                   : dtype == store::Dtype::kI16 ? store::Dtype::kBf16
                   : dtype == store::Dtype::kI8  ? store::Dtype::kU8
                   : dtype == store::Dtype::kU8  ? store::Dtype::kI8
                   : in_pairs                    ? dtype
                                                 : store::Dtype::kI16;
      bad.write(saved.bad());
      CHECK_THAT(complaint(saved.bad()), Catch::Contains(name));
      // The same bytes in another shape: rows and columns would be mixed up.
      const bool can_swap = !in_pairs || part.shape[0] % 2 == 0;
      if (part.shape.size() > 1 && part.shape[0] != part.shape.back() && can_swap) {
        part = good.parts[i];
        std::swap(part.shape[0], part.shape.back());
        if (part.shape[0] <= good.parts[i].shape[0]) {  // else there are more rows than keys
          bad.write(saved.bad());
          CHECK_THAT(complaint(saved.bad()), Catch::Contains(name));
        }
      }
      // One row less.
      part = good.parts[i];
      if (part.shape.empty()) continue;
      part.bytes.resize(part.bytes.size() / part.shape[0] * (part.shape[0] - 1));
      --part.shape[0];
      bad.write(saved.bad());
      CHECK_FALSE(complaint(saved.bad()).empty());
    }
  }
}

TEST_CASE("a header that is no JSON, or no header, is refused with the file's name") {
  SavedModel saved{spec::Spec()};
  ModelParts bad = saved.parts();
  for (const char* text : {"{", "[]", "null", "{}", "1", "{\"spec\":{}}", "\xff"}) {
    bad.text = text;
    bad.write(saved.bad());
    INFO(text);
    CHECK(complaint(saved.bad()).find(saved.bad()) == 0);
  }
}

TEST_CASE("every key of the header is needed, and none makes a crash whatever its value") {
  spec::Spec spec;
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
      CHECK(complaint(saved.bad()).find(saved.bad()) == 0);
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
  spec::Spec spec;
  spec.features.fields = {{"A"}, {"B"}};
  SavedModel saved(spec);
  ModelParts bad = saved.parts();
  bad.header["namespaces"][0]["fields"] = {2};
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("field"));
}

TEST_CASE("learned numbers that make no sense are refused") {
  SavedModel saved{spec::Spec()};
  ModelParts bad = saved.parts();
  const auto put = [&](const char* name, double value) {
    std::memcpy(bad.part(name).bytes.data(), &value, sizeof value);
  };
  SECTION("no base rate") { put("base_rate.count", 0); }
  SECTION("more clicks than examples") { put("base_rate.clicks", 1e9); }
  SECTION("fewer than none") { put("base_rate.clicks", -1); }
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("impossible base rate"));
}

TEST_CASE("an identity that is not that of the spec, and an input, are refused") {
  SavedModel saved{spec::Spec()};
  ModelParts bad = saved.parts();
  CHECK(bad.header["line"].get<std::string>().size() == 32);
  CHECK(bad.header["sequence"] == 60);
  CHECK(bad.header["input"].is_null());
  std::string expected = "line";
  SECTION("another line") { bad.header["line"] = std::string(32, '0'); }
  SECTION("another shape") { bad.header["spec"]["seed"] = 77; }
  SECTION("a place in the input") {
    bad.header["input"] = {{"byte", 5}};
    expected = "input";
  }
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains(expected));
}

TEST_CASE("sections that are not known are refused by name, optional ones are skipped") {
  SavedModel saved{spec::Spec()};
  ModelParts more = saved.parts();
  more.parts.push_back(
      {"later", store::Dtype::kU8, {500}, {}, std::vector<std::byte>(500, std::byte{1})});
  for (const Way& way : kWays) {
    for (const store::Role role : {store::Role::kIndex, store::Role::kParameter,
                                   store::Role::kState, store::Role::kStatistic}) {
      more.parts.back().declared.role = role;
      more.parts.back().declared.optional = false;
      more.write(saved.bad());
      INFO(way.name << ", role " << store::role_name(role));
      const std::string said = complaint(saved.bad(), way.use, way.by);
      // Predictions need no state, whatever it is of.
      if (way.use == Use::kPredict && role == store::Role::kState) {
        CHECK(said.empty());
      } else {
        CHECK_THAT(said, Catch::Contains("section later that this program does not know"));
      }
      more.parts.back().declared.optional = true;
      more.write(saved.bad());
      CHECK(complaint(saved.bad(), way.use, way.by).empty());
    }
  }
}

/// The numbers of a section.
struct Words {
  explicit Words(ModelParts::Part& part) : all(part.bytes.size() / 4), part_(part) {
    std::memcpy(all.data(), part.bytes.data(), part.bytes.size());
  }
  void store() { std::memcpy(part_.bytes.data(), all.data(), part_.bytes.size()); }

  std::vector<std::uint32_t> all;

 private:
  ModelParts::Part& part_;
};

TEST_CASE("keys that are there twice or in another order are refused") {
  spec::Spec spec;
  spec.heads = GENERATE(spec::Heads::kMixed, spec::Heads::kOne);
  SavedModel saved(spec);
  ModelParts bad = saved.parts();
  Words keys(bad.part("field.0.keys"));
  SECTION("twice") { keys.all[1] = keys.all[0]; }
  SECTION("another order") { std::swap(keys.all[0], keys.all[1]); }
  SECTION("no key") { keys.all[0] = table::kNoKey; }
  keys.store();
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("keys in the wrong order"));
}

TEST_CASE("largest values of features that have none, or two, are refused") {
  SavedModel saved{spec::Spec()};
  ModelParts bad = saved.parts();
  Words keys(bad.part("field.0.largest.keys"));
  REQUIRE(keys.all.size() > 1);
  SECTION("twice") { keys.all[1] = keys.all[0]; }
  SECTION("of no feature") { keys.all[0] ^= 1; }
  keys.store();
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("has a largest value"));
}

TEST_CASE("flipped bytes behind good checksums never crash", "[bytes]") {
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

TEST_CASE("flipped characters of the header never crash", "[bytes]") {
  SavedModel saved{spec::Spec()};
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

/// A file of a few thousand bytes that has all there is in a model of mixed heads.
std::vector<std::byte> small_file(const files::TempFolder& folder) {
  spec::Spec spec;
  spec.hidden = {2};
  spec.ffm_k = 2;
  spec.features.fields = {{"A"}, {"B"}};
  TrainRun run(spec);
  run.learn(cut(lines(), 0, 6));
  save_model(run.model, folder / "good");
  return files::read_bytes(folder / "good");
}

TEST_CASE("every flipped byte of a file, and an end that is missing, is noticed", "[bytes]") {
  const files::TempFolder folder;
  const std::vector<std::byte> good = small_file(folder);
  std::mt19937 random(3);
  const auto unnoticed = [&](std::span<const std::byte> bytes, std::size_t round) {
    files::write_bytes(folder / "bad", bytes);
    const Way& way = kWays[round % std::size(kWays)];
    const std::string said = complaint(folder / "bad", way.use, way.by);
    return said.find(folder / "bad: ") != 0;
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= static_cast<std::byte>(1 + random() % 255);
    if (unnoticed(bad, at)) FAIL("byte " << at);
  }
  for (std::size_t size = 0; size < good.size(); size += 7) {
    if (unnoticed(std::span(good).first(size), size)) FAIL(size << " bytes");
  }
}

TEST_CASE("splices of a file, and of its sections with their checksums, are noticed or used",
          "[bytes]") {
  const files::TempFolder folder;
  const std::vector<std::byte> good = small_file(folder);
  const ModelParts parts(folder / "good");
  std::mt19937 random(4);
  for (int round = 0; round < 600; ++round) {
    std::vector<std::byte> bad = good;
    const std::size_t length = 1 + random() % 300, from = random() % (good.size() - length),
                      to = random() % (good.size() - length);
    std::copy_n(good.begin() + static_cast<std::ptrdiff_t>(from), length,
                bad.begin() + static_cast<std::ptrdiff_t>(to));
    files::write_bytes(folder / "bad", bad);
    if (bad != good) CHECK_FALSE(complaint(folder / "bad").empty());
  }
  for (int round = 0; round < 1000; ++round) {
    ModelParts bad = parts;
    ModelParts::Part& one = bad.parts[random() % bad.parts.size()];
    const ModelParts::Part& other = parts.parts[random() % parts.parts.size()];
    INFO(one.name << " with what is of " << other.name);
    switch (random() % 4) {
      case 0:  // its bytes, as far as they go
        std::copy_n(other.bytes.begin(), std::min(one.bytes.size(), other.bytes.size()),
                    one.bytes.begin());
        break;
      case 1:  // all but the name
        one = {one.name, other.dtype, other.shape, other.declared, other.bytes};
        break;
      case 2:
        std::swap(one.declared, bad.parts[random() % bad.parts.size()].declared);
        break;
      default:  // in another place
        std::swap(one, bad.parts[random() % bad.parts.size()]);
    }
    try {
      bad.write(folder / "bad");
    } catch (const std::invalid_argument&) {
      continue;  // no file may say so; see hostile_file_test.cc
    }
    use(folder / "bad");
  }
}

TEST_CASE("a spec that asks for more than the file has is refused before there is memory for it") {
  SavedModel saved{spec::Spec()};
  ModelParts bad = saved.parts();
  SECTION("layers") { bad.header["spec"]["hidden"] = "8000,8000"; }
  SECTION("hashed cells") { bad.header["spec"]["bit_precision"] = 31; }
  SECTION("fields") { bad.header["namespaces"][0]["fields"] = {4000}; }
  spec::Spec spec;
  try {
    spec = spec::spec_from_json(bad.header["spec"]);
  } catch (const std::runtime_error& error) {
    FAIL(error.what());
  }
  bad.header["line"] = line_of(spec);
  bad.write(saved.bad());
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("is smaller than what its spec asks for") ||
                                         Catch::Contains("another number of fields"));
}

TEST_CASE("a small file does not ask for a hashed table beyond the machine's memory") {
  spec::Spec spec;
  spec.bit_precision = 12;
  SavedModel saved{spec};
  ModelParts big = saved.parts();
  spec.bit_precision = 31;
  big.header["spec"]["bit_precision"] = 31;
  big.header["line"] = line_of(spec);
  big.write(saved.bad());
  constexpr std::uint64_t kLeast = std::uint64_t{16} << 31;  // a slot has a weight, sums and counts
  if (default_memory_limit() >= 4 * kLeast) {
    WARN("this machine has memory for it");
    return;
  }
  CHECK_THAT(complaint(saved.bad()), Catch::Contains("a table of -b that may take") ||
                                         Catch::Contains("not enough memory for a linear table"));
}

}  // namespace
}  // namespace leveret::modelfile
