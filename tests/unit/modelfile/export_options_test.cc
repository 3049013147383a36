// What may be asked of an export beside its bits.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "modelfile/export_helpers.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::ModelFile;
using store::StoredSection;

/// What export_model says against it; empty when it does not.
std::string export_complaint(const std::string& model, const std::string& to,
                             const ExportOptions& options) {
  try {
    export_model(model, to, options);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

spec::Spec floats() {
  spec::Spec spec;
  spec.row_bits = 32;
  spec.admit = 1;
  return spec;
}

TEST_CASE("stochastic rounding keeps the mean, repeats with its seed, and leaves whole codes") {
  const LearnedModel saved(floats());
  const ModelFile model = ModelFile::open(saved.good());
  const std::string name = "field.1.rows.0.weights";
  const std::vector<float> exact = numbers(model, name);
  for (const int bits : {16, 8, 4}) {
    INFO(bits << " bits");
    ExportOptions options = bits_of(bits);
    options.rounding.stochastic = true;
    constexpr int kTimes = 200;
    std::vector<double> sum(exact.size());
    std::set<std::vector<float>> different;
    std::vector<float> scales;
    float unit = 0;
    for (int seed = 0; seed < kTimes; ++seed) {
      options.rounding.seed = static_cast<std::uint64_t>(seed);
      const ModelFile file = saved.exported("e", options);
      const std::vector<float> some = numbers(file, name);
      for (std::size_t i = 0; i < some.size(); ++i) sum[i] += some[i];
      if (seed < 3) different.insert(some);
      scales = read_scales(file, *file.find(name));
      unit = file.find(name)->declared.scale;
    }
    CHECK(different.size() == 3);
    const std::size_t row = exact.size() / std::max<std::size_t>(scales.size(), 1);
    double all = 0, all_codes = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double code = scales.empty() ? unit : scales[i / row];
      const double off = sum[i] / kTimes - exact[i];
      // The variance of a rounding is at most a quarter of a square code: six deviations.
      if (!(std::fabs(off) <= 3 * code / std::sqrt(kTimes))) FAIL(exact[i] << " off by " << off);
      all += off / code;
      all_codes += 1;
    }
    CHECK(std::fabs(all) < 3 / std::sqrt(kTimes) * std::sqrt(all_codes));
    options.rounding.seed = 7;
    saved.exported("e", options);
    saved.exported("again", options);
    CHECK(files::read_bytes(saved.folder / "e") == files::read_bytes(saved.folder / "again"));
    // Codes of the model itself need no rounding.
    const LearnedModel whole{spec::Spec()};
    if (bits == 16) {
      const ModelFile file = whole.exported("e", options);
      CHECK(numbers(file, name) == numbers(ModelFile::open(whole.good()), name));
    }
  }
}

/// Of sections that both files have: how many numbers of features and rows that both know differ.
struct Change {
  std::uint64_t numbers = 0, changed = 0;
  float largest = 0;  ///< change, in codes
};
Change change_of(const ModelFile& old, const ModelFile& now, const std::string& prefix,
                 const std::string& name) {
  const std::vector<table::Key> old_keys = keys(old, prefix + "keys");
  const std::vector<table::Key> new_keys = keys(now, prefix + "keys");
  std::map<table::Key, std::size_t> place;
  for (std::size_t i = 0; i < old_keys.size(); ++i) place[old_keys[i]] = i;
  const StoredSection& a = *old.find(prefix + name);
  const StoredSection& b = *now.find(prefix + name);
  REQUIRE(a.declared.scale == b.declared.scale);
  const std::vector<float> before = numbers(old, a), after = numbers(now, b);
  const std::size_t row = numbers_of_row(a);
  REQUIRE(numbers_of_row(b) == row);
  Change change;
  for (std::size_t i = 0; i < after.size() / row; ++i) {
    const auto found = place.find(new_keys[i]);
    if (found == place.end() || found->second >= before.size() / row) continue;
    for (std::size_t c = 0; c < row; ++c) {
      const float x = before[found->second * row + c], y = after[i * row + c];
      ++change.numbers;
      change.changed += x != y;
      const float codes = b.declared.coding == Coding::kLog
                              ? std::fabs(std::log1p(x) - std::log1p(y)) / b.declared.scale
                              : std::fabs(x - y) / b.declared.scale;
      if (x != y) change.largest = std::max(change.largest, codes);
    }
  }
  return change;
}

TEST_CASE("old codes stay within the tolerance, wherever their features are now") {
  for (const bool short_rows : {true, false}) {
    LearnedModel saved(short_rows ? spec::Spec() : floats());
    saved.exported("old", bits_of(16));
    saved.learn(40, 9);
    ExportOptions options = bits_of(16);
    options.previous = saved.folder / "old";
    const ModelFile old = ModelFile::open(saved.folder / "old");
    std::map<std::string, std::uint64_t> changed;
    for (const float tolerance : {0.0f, 8.0f, 500.0f}) {
      options.rounding.tolerance = tolerance;
      const ModelFile now = saved.exported("now", options);
      const ModelFile model = ModelFile::open(saved.good());
      for (const std::string name : {"weight", "weight2", "clicks", "count", "rows.0.weights"}) {
        INFO(name << ", tolerance " << tolerance << ", " << short_rows);
        const Change change = change_of(old, now, "field.2.", name);
        CHECK(change.numbers > 0);
        if (tolerance == 0) {
          CHECK(change.changed > 0);
        } else {
          CHECK((tolerance < 100 || change.changed < changed[name]));
          CHECK(change.changed <= changed[name]);
          // What has a new code has moved.
          if (change.changed > 0) CHECK(change.largest >= tolerance - 1);
        }
        changed[name] = change.changed;
        // And nothing is further off than the tolerance.
        const std::vector<float> exact = numbers(model, "field.2." + name),
                                 got = numbers(now, "field.2." + name);
        const StoredSection& section = *now.find("field.2." + name);
        const bool log = section.declared.coding == Coding::kLog;
        for (std::size_t i = 0; i < exact.size(); ++i) {
          const float off = log ? std::log1p(got[i]) - std::log1p(exact[i]) : got[i] - exact[i];
          const float most = std::max(tolerance, 0.5f) * section.declared.scale;
          if (!(std::fabs(off) <= most + 1e-6f)) FAIL(exact[i] << " became " << got[i]);
        }
      }
      CHECK(predictions(now.path(), lines()).size() == 60);
    }
  }
}

TEST_CASE("nothing that the older export knows changes under a tolerance beyond all codes") {
  for (const int bits : {32, 16}) {
    LearnedModel saved(floats());
    saved.exported("old", bits_of(bits));
    saved.learn(40, 9);
    ExportOptions options = bits_of(bits);
    options.previous = saved.folder / "old";
    const ModelFile old = ModelFile::open(saved.folder / "old");
    for (const float tolerance : {0.0f, 1e6f}) {
      options.rounding.tolerance = tolerance;
      const ModelFile now = saved.exported("now", options);
      for (const std::string name : {"weight", "weight2", "clicks", "count", "rows.0.weights"}) {
        INFO(name << ", tolerance " << tolerance << ", " << bits << " bits");
        const Change change = change_of(old, now, "field.2.", name);
        CHECK(change.numbers > 0);
        CHECK((change.changed > 0) == (tolerance == 0));
      }
    }
  }
}

TEST_CASE("with --previous ranges stay while they fit, and grow when they do not") {
  LearnedModel saved(floats());
  const ModelFile first = saved.exported("old", bits_of(16));
  const std::string name = "field.0.weight";
  const auto set = [&](float factor) {
    table::Shard& shard = saved.run.model.tables().field(0);
    for (const std::uint32_t i : shard.index().in_order()) {
      table::cell_of(shard.slot(i))->weight *= factor;
    }
    save_model(saved.run.model, saved.good());
  };
  ExportOptions options = bits_of(16);
  options.previous = saved.folder / "old";
  const float unit = first.find(name)->declared.scale;
  set(0.125f);
  CHECK(saved.exported("now", options).find(name)->declared.scale == unit);
  CHECK(saved.exported("alone", bits_of(16)).find(name)->declared.scale == unit / 8);
  set(128);
  CHECK(saved.exported("now", options).find(name)->declared.scale == unit * 16);
}

TEST_CASE("an export in the place of the older one; and nothing changes when nothing was learned") {
  for (const int bits : kAllBits) {
    for (const NamedSpec& kind : specs_to_test()) {
      INFO(kind.name << ", " << bits << " bits");
      const LearnedModel saved(kind.spec);
      saved.exported("live", bits_of(bits));
      const std::vector<std::byte> bytes = files::read_bytes(saved.folder / "live");
      ExportOptions options = bits_of(bits);
      options.previous = saved.folder / "live";
      options.rounding.tolerance = 2;
      saved.exported("live", options);
      CHECK(files::read_bytes(saved.folder / "live") == bytes);
    }
  }
}

TEST_CASE("fields that come later do not disturb older codes") {
  spec::Spec spec;
  spec.admit = 1;
  LearnedModel saved(spec);
  for (const int bits : kAllBits) {
    saved.exported("old" + std::to_string(bits), bits_of(bits));
  }
  saved.run.learn("1 |New n1 |A f1\n-1 |New n2 |A f2\n");
  save_model(saved.run.model, saved.good());
  for (const int bits : kAllBits) {
    ExportOptions options = bits_of(bits);
    options.previous = saved.folder / ("old" + std::to_string(bits));
    options.rounding.tolerance = 4;
    const ModelFile file = saved.exported("now", options);
    CHECK(file.find("field.4.keys") != nullptr);
    CHECK(predictions(file.path(), lines()).size() == 60);
  }
}

TEST_CASE("features that were seen too seldom are left out, with all that is theirs") {
  for (const NamedSpec& kind : specs_to_test()) {
    if (kind.spec.bit_precision > 0 || (!kind.spec.mixed() && !kind.spec.has_ffm())) continue;
    INFO(kind.name);
    const LearnedModel saved(kind.spec);
    const ModelFile model = ModelFile::open(saved.good());
    ExportOptions options = bits_of(16);
    options.min_count = 40;
    const ModelFile file = saved.exported("e", options);
    std::uint64_t before = 0, after = 0;
    for (const StoredSection& section : model.sections()) {
      if (!section.name.ends_with(".keys") || section.name.ends_with("largest.keys")) continue;
      const std::string prefix = section.name.substr(0, section.name.size() - 4);
      const std::vector<table::Key> all = keys(model, section.name),
                                    kept = keys(file, section.name);
      before += all.size();
      after += kept.size();
      if (!kind.spec.mixed()) continue;
      const std::vector<float> counts = numbers(model, prefix + "count");
      std::vector<table::Key> expected;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (counts[i] >= 40) expected.push_back(all[i]);
      }
      CHECK(kept == expected);
    }
    // Without counts those that have a row stay.
    CHECK((after < before || !kind.spec.mixed()));
    // Those that stay predict as before, but for rounding: the others are unknown.
    const std::string path = saved.folder / "e";
    const std::string some = model::random_lines(40, {}, 5);
    for (const float p : predictions(path, some)) CHECK((p > 0 && p < 1));
    options.bits = 32;
    options.min_count = 1000000;
    saved.exported("none", options);
    CHECK(predictions(saved.folder / "none", some).size() == 40);
  }
}

TEST_CASE("of a model without counts features go by how often they were seen before their row") {
  spec::Spec spec;
  spec.heads = spec::Heads::kOne;
  spec.admit = 60;
  const LearnedModel saved(spec);
  const ModelFile model = ModelFile::open(saved.good());
  ExportOptions options = bits_of(8);
  options.min_count = 45;
  const ModelFile file = saved.exported("e", options);
  std::uint64_t left_out = 0, stay = 0;
  for (std::size_t f = 0; f < 4; ++f) {
    const std::string prefix = shard_prefix(f + 1);
    const std::vector<table::Key> all = keys(model, prefix + "keys");
    const std::vector<table::Key> seen = keys(model, prefix + "occurrences");  // words, too
    std::vector<table::Key> expected;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t rows = all.size() - seen.size();
      if (i < rows || seen[i - rows] >= 45) {
        expected.push_back(all[i]);
        stay += i >= rows;
      } else {
        ++left_out;
      }
    }
    CHECK(keys(file, prefix + "keys") == expected);
  }
  CHECK(left_out > 0);
  CHECK(stay > 0);
  CHECK(predictions(file.path(), lines()).size() == 60);
}

TEST_CASE("what cannot be done is refused with its reason") {
  const LearnedModel saved{spec::Spec()};
  const std::string to = saved.folder / "e", other = saved.folder / "other";
  ExportOptions options = bits_of(16);
  options.previous = saved.good();
  CHECK(has(export_complaint(saved.good(), to, options), "good: is not an export"));
  saved.exported("e8", bits_of(8));
  options.previous = saved.folder / "e8";
  CHECK(has(export_complaint(saved.good(), to, options), "e8: has 8 bits; --bits 8"));
  spec::Spec spec;
  spec.ffm_k = 2;
  const LearnedModel another(spec);
  export_model(another.good(), other, bits_of(16));
  options.previous = other;
  CHECK(has(export_complaint(saved.good(), to, options), "other: is an export of another model"));
  options.previous = saved.folder / "missing";
  CHECK(has(export_complaint(saved.good(), to, options), "missing: cannot open"));

  options = bits_of(16);
  options.min_count = 2;
  for (const NamedSpec& kind : specs_to_test()) {
    if (kind.spec.bit_precision == 0 && (kind.spec.mixed() || kind.spec.has_rows())) continue;
    INFO(kind.name);
    const LearnedModel without(kind.spec);
    CHECK(has(export_complaint(without.good(), to, options),
              kind.spec.bit_precision > 0 ? "have no keys (-b)" : "does not count its features"));
  }
}

}  // namespace
}  // namespace leveret::modelfile
