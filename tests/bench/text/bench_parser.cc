/// How fast text becomes hashed examples, on one thread, for lines like Criteo's.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>

#include "text/parser.h"

namespace leveret::text {
namespace {

constexpr int kFields = 39;

/// `rows` lines of 39 namespaces with one feature each: 13 small numbers, 26 names of 8 hexadecimal
/// digits. Namespaces of one letter (about 383 bytes a line), or as `convert criteo` names them.
std::string criteo_like(int rows, bool letters) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::mt19937 random(1);
  std::string text;
  for (int row = 0; row < rows; ++row) {
    text += random() % 4 == 0 ? "1" : "-1";
    for (int field = 0; field < kFields; ++field) {
      text += " |";
      if (letters) {
        text += static_cast<char>('A' + field);
      } else {
        text += field < 13 ? "I" + std::to_string(field + 1) : "C" + std::to_string(field - 12);
      }
      text += ' ';
      if (field < 13) {
        text += std::to_string(random() % (random() % 2 ? 10 : 60));
        continue;
      }
      for (int i = 0; i < 8; ++i) text += kHex[random() % 16];
    }
    text += '\n';
  }
  return text;
}

/// The same features as values of one namespace: `|f name:value ...`.
std::string one_namespace(int rows) {
  std::mt19937 random(2);
  std::string text;
  for (int row = 0; row < rows; ++row) {
    text += "1 |f";
    for (int field = 0; field < kFields; ++field) {
      text += " i";
      text += std::to_string(field);
      text += ":0.";
      text += std::to_string(random() % 1000000);
    }
    text += '\n';
  }
  return text;
}

void parse_all(benchmark::State& state, const std::string& text) {
  NamespaceNames names;
  Parser parser(names, {});
  ExampleChunk chunk;
  std::size_t rows = 0;
  for (auto _ : state) {
    chunk.clear();
    chunk.bytes = text;
    parser.parse(chunk);
    benchmark::DoNotOptimize(chunk.features.data());
    rows += chunk.examples.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(rows));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void criteo_lines(benchmark::State& state) {
  parse_all(state, criteo_like(static_cast<int>(state.range(0)), true));
}
BENCHMARK(criteo_lines)->Arg(1)->Arg(700)->Arg(10000);

void named_lines(benchmark::State& state) {
  parse_all(state, criteo_like(static_cast<int>(state.range(0)), false));
}
BENCHMARK(named_lines)->Arg(700);

void valued_lines(benchmark::State& state) {
  parse_all(state, one_namespace(static_cast<int>(state.range(0))));
}
BENCHMARK(valued_lines)->Arg(700);

}  // namespace
}  // namespace leveret::text

BENCHMARK_MAIN();
