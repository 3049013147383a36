/// Exports made of models that have learned, and their numbers.
#pragma once

#include <string>
#include <vector>

#include "modelfile/export/export_model.h"
#include "modelfile/saved_model.h"
#include "modelfile/section_names.h"
#include "modelfile/section_numbers.h"

namespace leveret::modelfile {

inline constexpr int kAllBits[] = {32, 16, 8, 4};

inline ExportOptions bits_of(int bits) {
  ExportOptions options;
  options.bits = bits;
  return options;
}

/// All numbers of a section, decoded.
inline std::vector<float> numbers(const store::ModelFile& file,
                                  const store::StoredSection& section) {
  std::vector<float> all;
  NumberDecoder decoder(section, read_scales(file, section));
  for_each_rows(file, section, [&](std::span<const std::byte> rows, std::uint64_t first) {
    const std::span<const float> some = decoder.decode(rows, first);
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}
inline std::vector<float> numbers(const store::ModelFile& file, const std::string& name) {
  const store::StoredSection* const section = file.find(name);
  REQUIRE(section != nullptr);
  return numbers(file, *section);
}

inline std::vector<table::Key> keys(const store::ModelFile& file, const std::string& name) {
  const store::StoredSection* const section = file.find(name);
  REQUIRE(section != nullptr);
  std::vector<table::Key> keys(section->shape[0]);
  file.read(*section, reinterpret_cast<std::byte*>(keys.data()));
  return keys;
}

/// A model with rows, saved as "good".
struct LearnedModel : SavedModel {
  explicit LearnedModel(const spec::Spec& spec) : SavedModel(spec) { learn(400, 4); }
  void learn(std::size_t lines, std::uint32_t seed) {
    run.learn(model::random_lines(lines, {}, seed));
    save_model(run.model, folder / "good");
  }
  std::string good() const { return folder / "good"; }
  /// Exports it under this name.
  store::ModelFile exported(const std::string& name, const ExportOptions& options) const {
    export_model(good(), folder / name, options);
    return store::ModelFile::open(folder / name);
  }
};

inline std::vector<float> predictions(const std::string& path, const std::string& lines,
                                      LoadBy by = LoadBy::kReading) {
  return TrainRun(load_model(path, kTestMemory, Use::kPredict, by)).predict(lines);
}

}  // namespace leveret::modelfile
