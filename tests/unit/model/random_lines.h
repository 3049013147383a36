/// VW text drawn at random, the same on every machine for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace leveret::model {

struct LineShape {
  std::uint32_t fields = 4;       ///< namespaces A, B, …
  std::uint32_t missing = 25;     ///< per cent of namespaces that a line lacks
  std::uint32_t features = 3;     ///< at most, per namespace
  std::uint32_t vocabulary = 20;  ///< per namespace
  bool values = true;             ///< other than 1
  bool repeats = false;           ///< a feature may come twice in a line
  bool weights = true;            ///< importance and initial scores
  std::size_t late = 0;           ///< namespace i comes only from line i * late on
};

inline std::string random_namespace(std::mt19937& random, const LineShape& shape,
                                    std::uint32_t field) {
  static constexpr const char* kValues[] = {"", ":0.5", ":-2", ":3.75", ":1"};
  std::string text = std::string(" |") + static_cast<char>('A' + field);
  std::set<std::uint32_t> used;
  const std::uint32_t features = 1 + random() % shape.features;
  for (std::uint32_t i = 0; i < features; ++i) {
    const std::uint32_t id = random() % shape.vocabulary;
    if (!used.insert(id).second && !shape.repeats) continue;
    text += " f" + std::to_string(id);
    if (shape.values) text += kValues[random() % 5];
  }
  return text;
}

/// Labelled lines; the first has every namespace that is not late.
inline std::string random_lines(std::size_t lines, const LineShape& shape, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t l = 0; l < lines; ++l) {
    text += random() % 3 == 0 ? "1" : "-1";
    if (shape.weights && random() % 2 == 0) text += random() % 2 == 0 ? " 2.5" : " 0.5 0.25";
    for (std::uint32_t field = 0; field < shape.fields; ++field) {
      if (field * shape.late > l) continue;
      if (l > 0 && random() % 100 < shape.missing) continue;
      text += random_namespace(random, shape, field);
    }
    text += '\n';
  }
  return text;
}

}  // namespace leveret::model
