/// Shared by the parser's tests: text in, chunk out, with shorthands for what is asked most.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/parser.h"

namespace leveret::text {

struct Parsed {
  NamespaceNames names;
  ExampleChunk chunk;

  explicit Parsed(std::string_view text, ParserOptions options = {}) {
    chunk.bytes = text;
    Parser(names, options).parse(chunk);
  }

  /// The features' hashes, masked to `bits`.
  std::vector<std::uint32_t> hashes(int bits = 18) const {
    std::vector<std::uint32_t> out;
    for (const Feature& f : chunk.features) out.push_back(f.hash & ((1u << bits) - 1));
    return out;
  }
  std::vector<float> values() const {
    std::vector<float> out;
    for (const Feature& f : chunk.features) out.push_back(f.value);
    return out;
  }
  /// Names of the runs, in order; with the number of features where it is not 1: "a b:2".
  std::string run_names() const {
    std::string out;
    for (const NamespaceRun& run : chunk.runs) {
      if (!out.empty()) out += ' ';
      out += names.name(run.name);
      if (run.end - run.begin != 1) out += ":" + std::to_string(run.end - run.begin);
    }
    return out;
  }
  const Example& only() const {
    INFO(chunk.bytes);
    for (const BadLine& bad : chunk.bad) FAIL("bad line: " << bad.what << " at " << bad.column);
    REQUIRE(chunk.examples.size() == 1);
    return chunk.examples[0];
  }
  std::string_view tag() const { return chunk.view(only().tag_begin, only().tag_size); }
};

using Hashes = std::vector<std::uint32_t>;
using Values = std::vector<float>;

}  // namespace leveret::text
