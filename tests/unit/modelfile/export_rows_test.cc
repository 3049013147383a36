// Rows of an export, one by one: by what a row has its scale and its noise, and which rows a coded
// count keeps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "modelfile/export/export_section.h"
#include "modelfile/export_helpers.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;
using store::ModelFile;

constexpr std::size_t kNumbers = 6;  // of a row
const std::string kRows = "rows.0.weights";

ModelFile file_of(const std::string& path, const std::vector<store::SectionView>& sections) {
  store::write_model_file(path, store::Kind::kModel, "{}", sections);
  return ModelFile::open(path);
}

ModelFile file_of_rows(const std::string& path, const std::vector<float>& numbers) {
  return file_of(path, {store::make_section(
                           kRows, Dtype::kF32, {numbers.size() / kNumbers, 1, kNumbers},
                           declared(store::Role::kParameter), std::span<const float>(numbers))});
}

std::vector<float> scales_of(const ExportedSection& section) {
  std::vector<float> scales(section.bytes.size() / sizeof(float));
  std::memcpy(scales.data(), section.bytes.data(), section.bytes.size());
  return scales;
}

float largest_of_row(const std::vector<float>& numbers, std::size_t row) {
  float largest = 0;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    largest = std::max(largest, std::fabs(numbers[row * kNumbers + i]));
  }
  return largest;
}

TEST_CASE("a row keeps the scale of an older export while it fits and is not twice too large") {
  constexpr std::size_t kRowCount = 200;
  const SectionPlan plan = {SectionPlan::What::kByRow, GENERATE(Dtype::kI8, Dtype::kI4), 1, false};
  const auto most = static_cast<float>(largest_code(plan.dtype));
  const files::TempFolder folder;
  std::mt19937 random(7);
  std::vector<float> before(kRowCount * kNumbers);
  for (float& x : before) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 997;
  const ModelFile first = file_of_rows(folder / "first", before);
  const auto exported = [&](const ModelFile& model, const ModelFile* previous) {
    return export_section({model, previous, *model.find(kRows), nullptr}, plan, {});
  };
  const std::vector<ExportedSection> old = exported(first, nullptr);
  REQUIRE(old.size() == 2);
  std::vector<store::SectionView> views;
  for (const ExportedSection& s : old) {
    views.push_back({s.name, s.dtype, s.shape, s.declared, s.bytes.data(), s.bytes.size(), {}});
  }
  const ModelFile previous = file_of(folder / "previous", views);
  const std::vector<float> old_scales = scales_of(old[1]);

  std::vector<float> now = before;
  constexpr float kFactors[] = {0.1f, 0.45f, 0.49f, 0.51f, 0.7f, 0.99f, 1, 1.001f, 1.2f, 9};
  for (std::size_t row = 0; row < kRowCount; ++row) {
    const float factor = kFactors[row % std::size(kFactors)];
    for (std::size_t i = 0; i < kNumbers; ++i) now[row * kNumbers + i] *= factor;
  }
  const ModelFile second = file_of_rows(folder / "second", now);
  const std::vector<float> scales = scales_of(exported(second, &previous)[1]);
  const std::vector<float> own = scales_of(exported(second, nullptr)[1]);
  std::size_t kept = 0, fresh = 0;
  for (std::size_t row = 0; row < kRowCount; ++row) {
    const float largest = largest_of_row(now, row), was = old_scales[row];
    INFO("row " << row << ", largest " << largest << ", older scale " << was);
    // What rounds to a code fits.
    const bool keeps = largest <= was * (most + 0.5f) && largest / most > was / 2;
    REQUIRE(scales[row] == (keeps ? was : own[row]));
    kept += keeps && was != own[row];
    fresh += !keeps;
  }
  CHECK(kept > 30);
  CHECK(fresh > 30);
}

TEST_CASE("noise of a row goes by its feature, whatever other rows there are") {
  for (const int bits : {8, 4}) {
    const LearnedModel saved{spec::Spec()};
    std::size_t same = 0;
    std::set<std::vector<std::byte>> different;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO(bits << " bits, seed " << seed);
      ExportOptions options = bits_of(bits);
      options.rounding = {.stochastic = true, .seed = seed};
      const ModelFile all = saved.exported("all", options);
      options.min_count = 40;
      const ModelFile some = saved.exported("some", options);
      const std::string prefix = shard_prefix(2), name = weights_name(prefix, 0);
      const std::vector<table::Key> keys_all = keys(all, prefix + "keys");
      const std::vector<table::Key> keys_some = keys(some, prefix + "keys");
      REQUIRE(keys_some.size() < keys_all.size());
      std::map<table::Key, std::size_t> place;
      for (std::size_t i = 0; i < keys_all.size(); ++i) place[keys_all[i]] = i;
      const std::vector<float> rows_all = numbers(all, name), rows_some = numbers(some, name);
      const std::size_t row = numbers_of_row(*all.find(name));
      for (std::size_t i = 0; i < rows_some.size() / row; ++i) {
        const std::size_t from = place.at(keys_some[i]);
        REQUIRE(std::equal(rows_some.begin() + static_cast<std::ptrdiff_t>(i * row),
                           rows_some.begin() + static_cast<std::ptrdiff_t>((i + 1) * row),
                           rows_all.begin() + static_cast<std::ptrdiff_t>(from * row)));
        same += from != i;
      }
      different.insert(all.read(*all.find(name)));
    }
    CHECK(same > 20);
    CHECK(different.size() > 15);
  }
}

TEST_CASE("of an export the same features are left out as of its model") {
  const LearnedModel saved{spec::Spec()};
  saved.exported("coded", bits_of(16));
  std::set<std::size_t> sizes;
  for (std::uint64_t least = 1; least <= 100; ++least) {
    INFO("--min_count " << least);
    ExportOptions options = bits_of(8);
    options.min_count = least;
    const ModelFile of_model = saved.exported("of_model", options);
    export_model(saved.folder / "coded", saved.folder / "of_export", options);
    const ModelFile of_export = ModelFile::open(saved.folder / "of_export");
    for (std::size_t shard = 1; shard <= 4; ++shard) {
      const std::string name = shard_prefix(shard) + "keys";
      REQUIRE(keys(of_model, name) == keys(of_export, name));
      sizes.insert(keys(of_model, name).size());
    }
  }
  CHECK(sizes.size() > 10);
}

}  // namespace
}  // namespace leveret::modelfile
