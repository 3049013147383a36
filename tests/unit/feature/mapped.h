/// Shared by the tests of the feature stage: VW text in, features out, told as text.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <string_view>

#include "feature/feature_map.h"
#include "text/parser.h"

namespace leveret::feature {

struct Mapped {
  explicit Mapped(std::string_view text, FeatureOptions options = {},
                  std::vector<NamespacePlan> known = {})
      : map(std::move(options), std::move(known)) {
    parse(text);
    map_all(true);
  }

  /// Puts other text in the place of the first; what has been met stays.
  void parse(std::string_view text) {
    chunk.clear();
    chunk.bytes = text;
    text::Parser(names,
                 {.keep_names = true, .numbers = number_namespaces(map.options())})
        .parse(chunk);
    REQUIRE(chunk.bad.empty());
    for (const text::NamespaceRun& run : chunk.runs) {
      if (names.name(run.name).starts_with("|")) continue;  // a number
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        name_of[chunk.features[f].hash] =
            std::string(names.name(run.name)) + "^" +
            std::string(chunk.view(chunk.names[f].name_begin, chunk.names[f].name_size));
      }
    }
  }

  void map_all(bool grow) {
    batch.clear();
    for (std::size_t next = 0; next < chunk.examples.size();) {
      next += map.map(chunk, next, chunk.examples.size() - next, batch);
      if (next < chunk.examples.size()) map.meet(names, chunk, next, grow);
    }
    REQUIRE(batch.size() == chunk.examples.size());
  }

  std::string told(std::uint32_t hash, float value) const {
    const auto name = name_of.find(hash);
    const std::string text = name == name_of.end() ? "#" + std::to_string(hash & 0x3ffff)  // -b 18
                                                   : name->second;
    if (value == 1) return text;
    std::string number = std::to_string(value);
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
    return text + ":" + number;
  }

  /// "group(name name:value) …"; what has no name is "#hash" at 18 bits.
  std::string linear(std::size_t b = 0) const {
    std::string text;
    for (std::uint32_t r = batch.linear_runs_begin[b]; r < batch.linear_runs_begin[b + 1]; ++r) {
      const LinearRun& run = batch.linear_runs[r];
      text += (text.empty() ? "" : " ") + std::to_string(run.group) + "(";
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        text += (i > run.begin ? " " : "") + told(batch.linear[i].hash, batch.linear[i].value);
      }
      text += ")";
    }
    return text;
  }

  /// "field(name name:value) …"; "!" marks a feature without linear weight.
  std::string fields(std::size_t b = 0) const {
    std::string text;
    for (std::uint32_t r = batch.runs_begin[b]; r < batch.runs_begin[b + 1]; ++r) {
      const FieldRun& run = batch.runs[r];
      text += (text.empty() ? "" : " ") + std::to_string(run.field) + "(";
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const FieldFeature& f = batch.field_features[i];
        text += (i > run.begin ? " " : "") + told(f.hash, f.value);
        if (f.linear == kNoLinear) {
          text += "!";
        } else {
          CHECK(f.linear >= batch.linear_begin(b));
          CHECK(f.linear < batch.linear_end(b));
          CHECK(batch.linear[f.linear].hash == f.hash);
          CHECK(batch.linear[f.linear].value == f.value);
        }
      }
      text += ")";
    }
    return text;
  }

  text::NamespaceNames names;
  text::ExampleChunk chunk;
  std::map<std::uint32_t, std::string> name_of;  ///< by hash: "namespace^feature"
  FeatureMap map;
  FeatureBatch batch;
};

}  // namespace leveret::feature
