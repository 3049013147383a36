// Exports: what they keep, how far numbers are off, and that kernels read them as they are.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "modelfile/export_helpers.h"
#include "table/slot.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;
using store::ModelFile;
using store::Role;
using store::StoredSection;

/// How far number i of a section may be off: half of what its code counts.
struct HalfCodes {
  HalfCodes(const ModelFile& file, const StoredSection& section)
      : coding(section.declared.coding),
        scale(section.declared.scale),
        scales(read_scales(file, section)),
        row_numbers(numbers_of_row(section)) {}

  void check(float is, float was, std::size_t i) const {
    double off = std::fabs(double{is} - was), most = 0;
    if (coding == Coding::kFixed) most = scale / 2;
    // A scale of a row is a rounded quotient.
    if (coding == Coding::kFixedByRow) most = scales[i / row_numbers] * 0.50001;
    if (coding == Coding::kLog) {
      off = std::fabs(std::log1p(double{is}) - std::log1p(double{was}));
      most = scale / 2 + 1e-6;
    }
    if (!(off <= most)) FAIL(was << " became " << is << ", allowed " << most);
  }

  Coding coding;
  float scale;
  std::vector<float> scales;
  std::uint64_t row_numbers;
};

void check_section(const ModelFile& was, const StoredSection& from, const ModelFile& is, int bits) {
  INFO(from.name << ", " << bits << " bits");
  const StoredSection* const to = is.find(from.name);
  if (from.declared.role == Role::kState) {
    CHECK(to == nullptr);
    return;
  }
  REQUIRE(to != nullptr);
  CHECK(to->shape == from.shape);
  CHECK(to->declared.role == from.declared.role);
  if (to->declared.coding == Coding::kPlain || to->dtype == from.dtype) {
    CHECK(to->dtype == from.dtype);
    if (from.dtype != store::Dtype::kF32) {
      CHECK(is.read(*to) == was.read(from));
      return;
    }
    std::vector<float> expected = numbers(was, from);
    // What L1 holds at 0 (optim/ftrl.h).
    for (float& w : expected) w = table::as_read(w);
    CHECK(numbers(is, *to) == expected);
    return;
  }
  const HalfCodes half(is, *to);
  const std::vector<float> before = numbers(was, from), after = numbers(is, *to);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) half.check(after[i], before[i], i);
}

TEST_CASE("an export has all that is no state, off by half a code at most") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    const LearnedModel saved(kind.spec);
    const ModelFile model = ModelFile::open(saved.folder / "good");
    for (const int bits : kAllBits) {
      export_model(model.path(), saved.folder / "export", bits_of(bits));
      const ModelFile file = ModelFile::open(saved.folder / "export");
      CHECK(file.kind() == store::Kind::kExport);
      // -b: a feature without linear weights is its row.
      if (model.find("cells.weight") != nullptr) continue;
      for (const StoredSection& section : model.sections()) {
        check_section(model, section, file, bits);
      }
    }
  }
}

TEST_CASE(
    "rows of 16 bits are exact in an export of 16 bits, and take codes of their own in fewer") {
  const LearnedModel saved{spec::Spec()};
  const ModelFile model = ModelFile::open(saved.folder / "good");
  const StoredSection* const rows = model.find("field.0.rows.0.weights");
  REQUIRE(rows->shape[0] > 0);
  REQUIRE(rows->dtype == Dtype::kI16);
  for (const int bits : kAllBits) {
    export_model(model.path(), saved.folder / "export", bits_of(bits));
    const ModelFile file = ModelFile::open(saved.folder / "export");
    const StoredSection* const codes = file.find(rows->name);
    REQUIRE(codes != nullptr);
    CHECK(codes->dtype == (bits >= 16 ? Dtype::kI16 : bits == 8 ? Dtype::kI8 : Dtype::kI4));
    CHECK((file.find(scales_name(rows->name)) != nullptr) == (bits < 16));
    if (bits >= 16) CHECK(file.read(*codes) == model.read(*rows));
    CHECK(file.find("field.0.count")->dtype == (bits == 32 ? Dtype::kF32 : Dtype::kU16));
    CHECK(file.find("field.0.weight")->dtype == (bits == 32 ? Dtype::kF32 : Dtype::kI16));
  }
}

/// The same export with floats in place of codes.
void decode_export(const std::string& path, const std::string& to) {
  const ModelFile file = ModelFile::open(path);
  std::vector<store::SectionView> views;
  std::vector<std::vector<std::byte>> bytes;
  std::map<std::uint32_t, std::uint32_t> numbers_of;
  for (const StoredSection& section : file.sections()) {
    if (section.name.ends_with(".scales")) continue;
    store::SectionView view = {
        section.name, section.dtype, section.shape, section.declared, nullptr, 0, {}};
    bytes.push_back(file.read(section));
    if (section.declared.coding != Coding::kPlain) {
      const std::vector<float> floats = numbers(file, section);
      const auto plain = std::as_bytes(std::span(floats));
      bytes.back().assign(plain.begin(), plain.end());
      view.dtype = Dtype::kF32;
      view.declared.coding = Coding::kPlain;
      view.declared.scale = 1;
    }
    const auto number = static_cast<std::uint32_t>(&section - file.sections().data()) + 1;
    if (view.declared.keys > 0) {
      numbers_of.emplace(number, views.size() + 1);
      view.declared.keys = numbers_of.at(view.declared.keys);
    }
    views.push_back(view);
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].data = bytes[i].data();
    views[i].bytes = bytes[i].size();
  }
  store::write_model_file(to, store::Kind::kExport, file.header_json(), views);
}

TEST_CASE("an export predicts what its numbers say, read and mapped") {
  for (const bool values : {true, false}) {
    model::LineShape shape;
    shape.values = values;
    shape.features = values ? 3 : 1;
    const std::string fresh = model::random_lines(60, shape, 3) + "1 |A new f1:7 |new f2 |C f3\n";
    for (const NamedSpec& kind : specs_to_test()) {
      const LearnedModel saved(kind.spec);
      const std::string path = saved.folder / "export", floats = saved.folder / "floats";
      for (const int bits : kAllBits) {
        INFO(kind.name << ", " << bits << " bits");
        export_model(saved.folder / "good", path, bits_of(bits));
        const std::vector<float> got = predictions(path, fresh);
        CHECK(got == predictions(path, fresh, LoadBy::kMapping));
        decode_export(path, floats);
        const std::vector<float> expected = predictions(floats, fresh);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (!(std::fabs(got[i] - expected[i]) < 2e-5f)) {
            FAIL("line " << i << ": " << got[i] << ", expected " << expected[i]);
          }
        }
      }
    }
  }
}

TEST_CASE(
    "with 32 bits predictions are those of the model, bit for bit; with fewer they are near") {
  const std::string fresh = model::random_lines(60, {}, 3);
  for (const NamedSpec& kind : specs_to_test()) {
    const LearnedModel saved(kind.spec);
    const std::vector<float> expected = predictions(saved.folder / "good", fresh);
    for (const int bits : kAllBits) {
      INFO(kind.name << ", " << bits << " bits");
      export_model(saved.folder / "good", saved.folder / "export", bits_of(bits));
      const std::vector<float> got = predictions(saved.folder / "export", fresh);
      if (bits == 32) CHECK(got == expected);
      const float most = bits >= 16 ? 0.002f : bits == 8 ? 0.01f : 0.1f;
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(got[i] - expected[i]) < most);
    }
  }
}

TEST_CASE("a model that knows nothing, and one without memory, can be exported") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    TrainRun empty(kind.spec);
    const files::TempFolder folder;
    save_model(empty.model, folder / "m");
    for (const int bits : kAllBits) {
      export_model(folder / "m", folder / "e", bits_of(bits));
      CHECK(predictions(folder / "e", "1 |A f1\n|Z z\n1\n") ==
            predictions(folder / "m", "1 |A f1\n|Z z\n1\n"));
    }
  }
  spec::Spec spec;
  spec.admit = 1;
  TrainRun run(spec, 250000);
  model::LineShape shape;
  shape.vocabulary = 5000;
  run.learn(model::random_lines(3000, shape, 2));
  REQUIRE(run.model.tables().field(0).overflow_row() != table::kNoRow);
  const files::TempFolder folder;
  save_model(run.model, folder / "m");
  const std::string more = model::random_lines(30, shape, 3);
  export_model(folder / "m", folder / "e", bits_of(32));
  CHECK(predictions(folder / "e", more) == predictions(folder / "m", more));
  ExportOptions some = bits_of(8);
  some.min_count = 2;
  export_model(folder / "m", folder / "e", some);
  CHECK(predictions(folder / "e", more).size() == 30);
}

TEST_CASE("the same export is made again, also from an export of more bits") {
  for (const NamedSpec& kind : specs_to_test()) {
    const LearnedModel saved(kind.spec);
    const auto exported = [&](const char* from, const ExportOptions& options) {
      export_model(saved.folder / from, saved.folder / "again", options);
      return files::read_bytes(saved.folder / "again");
    };
    ExportOptions stochastic = bits_of(8);
    stochastic.rounding.stochastic = true;
    for (const ExportOptions& options : {bits_of(16), bits_of(4), stochastic}) {
      INFO(kind.name << ", " << options.bits << " bits");
      export_model(saved.folder / "good", saved.folder / "export", options);
      const std::vector<std::byte> bytes = files::read_bytes(saved.folder / "export");
      CHECK(exported("good", options) == bytes);
      CHECK(exported("export", options) == bytes);
      export_model(saved.folder / "good", saved.folder / "wide", bits_of(32));
      CHECK(exported("wide", options) == bytes);
    }
  }
}

TEST_CASE("learning does not go on from an export") {
  const SavedModel saved{spec::Spec()};
  export_model(saved.folder / "good", saved.folder / "export", bits_of(16));
  CHECK(complaint(saved.folder / "export").find("is an export, without what learning needs") !=
        std::string::npos);
  CHECK(complaint(saved.folder / "export", Use::kPredict).empty());
}

}  // namespace
}  // namespace leveret::modelfile
