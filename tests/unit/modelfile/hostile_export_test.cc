// Exports that are wrong: nothing of them is believed, though the checksums are right.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "modelfile/export_helpers.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Coding;
using store::Dtype;

/// Small, with every kind of code.
spec::Spec small() {
  spec::Spec spec;
  spec.ffm_k = 2;
  spec.admit = 1;
  spec.hidden = {3};
  return spec;
}
std::string few_lines() { return "1 |A a:2 b |B c\n-1 |A b |B d\n1 |A a |B c\n"; }

struct SmallExport {
  explicit SmallExport(int bits) {
    TrainRun run(small());
    run.learn(few_lines());
    save_model(run.model, folder / "model");
    export_model(folder / "model", path(), bits_of(bits));
  }
  std::string path() const { return folder / "good"; }
  std::string bad() const { return folder / "bad"; }
  files::TempFolder folder;
};

/// Those that read an export: two ways of loading it, exporting it again, and taking it for older.
constexpr int kReaders = 4;

/// What one of them says against it.
std::string complaint_of(const SmallExport& all, int reader) {
  if (reader < 2) {
    return complaint(all.bad(), Use::kPredict, reader == 0 ? LoadBy::kReading : LoadBy::kMapping);
  }
  const bool previous = reader == 3;
  ExportOptions options;
  options.rounding.tolerance = 2;
  options.previous = previous ? all.bad() : "";
  try {
    export_model(previous ? all.path() : all.bad(), all.folder / "out", options);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST_CASE("an export with a flipped byte, or cut anywhere, is refused by all that read it",
          "[bytes]") {
  const SmallExport all(GENERATE(16, 8, 4));
  const std::vector<std::byte> good = files::read_bytes(all.path());
  // A byte is tried with one of the readers, as all widths and neighbours are with others.
  int reader = static_cast<int>(good.size() % kReaders);
  const auto check = [&](const std::vector<std::byte>& bytes) {
    files::write_bytes(all.bad(), bytes);
    reader = (reader + 1) % kReaders;
    const std::string said = complaint_of(all, reader);
    if (said.find(all.bad()) != 0) FAIL("reader " << reader << " said '" << said << "'");
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{1} << (at % 8);
    INFO("byte " << at);
    check(bad);
  }
  for (std::size_t size = 0; size < good.size(); size += 13) {
    INFO("cut to " << size);
    check({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  for (int i = 0; i < kReaders; ++i) check(longer);
}

/// It is refused, or predicts and is exported again without a crash.
void use(const SmallExport& all) {
  for (int reader = 0; reader < kReaders; ++reader) complaint_of(all, reader);
  try {
    TrainRun run(load_model(all.bad(), kTestMemory, Use::kPredict));
    CHECK(run.predict(few_lines()).size() == 3);
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find(all.bad()) == 0);
  }
}

TEST_CASE("whatever stands in a section or is said of it, nobody crashes", "[bytes]") {
  const SmallExport all(GENERATE(16, 8, 4));
  const ModelParts good(all.path());
  std::mt19937 random(5);
  for (std::size_t i = 0; i < good.parts.size(); ++i) {
    INFO("section " << good.parts[i].name);
    for (int t = 0; t < 6; ++t) {
      ModelParts bad = good;
      ModelParts::Part& part = bad.parts[i];
      for (std::byte& byte : part.bytes) {
        if (random() % 3 == 0) byte = static_cast<std::byte>(random());
      }
      bad.write(all.bad(), store::Kind::kExport);
      use(all);
    }
    ModelParts without = good;
    without.erase(i);
    try {
      without.write(all.bad(), store::Kind::kExport);
      use(all);
    } catch (const std::invalid_argument&) {  // codes without their scales: no writer makes that
    }
  }
}

TEST_CASE("codes that are not what readers know, and rows that are not alike, are refused") {
  const auto refused = [](const SmallExport& all, const ModelParts& bad, const char* why) {
    bad.write(all.bad(), store::Kind::kExport);
    const std::string said = complaint(all.bad(), Use::kPredict);
    INFO(said);
    CHECK(said.find(why) != std::string::npos);
    use(all);
  };
  const SmallExport of16(16), of4(4);
  const ModelParts good16(of16.path()), good4(of4.path());
  {
    ModelParts bad = good16;
    bad.part("field.1.rows.0.weights").declared.scale *= 2;
    refused(of16, bad, "has section field.1.rows.0.weights with a role, keys or scale");
  }
  {
    ModelParts bad = good16;
    for (ModelParts::Part& part : bad.parts) {
      if (part.name.ends_with("rows.0.weights")) part.declared.scale = 3;
    }
    refused(of16, bad, "with a role, keys or scale");
  }
  {
    ModelParts bad = good16;
    for (ModelParts::Part& part : bad.parts) {
      if (part.name.ends_with("rows.0.weights")) part.declared.scale = 1e38f;
    }
    refused(of16, bad, "has rows with an impossible scale");
  }
  {
    ModelParts bad = good16;
    bad.part("field.0.weight").declared.scale = 1e37f;
    refused(of16, bad, "has section field.0.weight with a role, keys or codes");
  }
  {
    ModelParts bad = good16;
    bad.part("field.0.count").declared.scale = 0.5f;
    refused(of16, bad, "has section field.0.count with a role, keys or codes");
  }
  {
    ModelParts bad = good4;
    const float huge = 1e37f;
    std::memcpy(bad.part("field.0.rows.0.weights.scales").bytes.data(), &huge, sizeof huge);
    refused(of4, bad, "has rows with an impossible scale");
  }
  {
    ModelParts bad = good4;
    const float nan = std::nanf("");
    std::memcpy(bad.part("field.0.rows.0.weights.scales").bytes.data(), &nan, sizeof nan);
    refused(of4, bad, "has rows with an impossible scale");
  }
}

TEST_CASE("a model with weights that are not finite is not exported") {
  const SmallExport all(16);
  const ModelParts good(all.folder / "model");
  for (const char* name : {"field.0.weight", "field.1.count", "dense.0.weights", "constant.weight",
                           "first_mixer.weight"}) {
    for (const int bits : kAllBits) {
      INFO(name << ", " << bits << " bits");
      ModelParts bad = good;
      const float nan = std::nanf("");
      std::memcpy(bad.part(name).bytes.data(), &nan, sizeof nan);
      bad.write(all.folder / "model");
      try {
        export_model(all.folder / "model", all.folder / "out", bits_of(bits));
        FAIL("it was exported");
      } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("not finite") != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::modelfile
