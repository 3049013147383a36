#include "text/example.h"

#include <algorithm>

namespace leveret::text {
namespace {

constexpr std::size_t kKeptBytes = 16 << 20;

template <typename Array>
void free_if_large(Array& array) {
  if (array.capacity() * sizeof array[0] <= kKeptBytes) return;
  Array().swap(array);  // an assignment may keep the room
}

template <typename Array>
std::size_t array_bytes(const Array& array) {
  return array.size() * sizeof array[0];
}

}  // namespace

void ExampleChunk::turn_bad(const std::vector<std::size_t>& which, const char* what) {
  if (which.empty()) return;
  std::size_t begin = 0, kept = 0, next = 0;
  std::uint64_t at_line = first_line;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (next == which.size() || which[next] != i) {
      examples[kept++] = examples[i];
      continue;
    }
    ++next;
    const std::uint64_t line = examples[i].line;
    for (; at_line < line; ++at_line)
      begin = std::min(bytes.find('\n', begin), bytes.size() - 1) + 1;
    std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    if (end > begin && bytes[end - 1] == '\r') --end;
    bad.push_back({line, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin),
                   1, what});
  }
  examples.resize(kept);
  std::ranges::sort(bad, {}, &BadLine::line);
}

void ExampleChunk::clear() {
  bytes.clear();
  examples.clear();
  runs.clear();
  features.clear();
  names.clear();
  bad.clear();
  source = 0;
  first_line = 1;
  blank_lines = 0;
  ends_source = false;
  place = {};
  name_limit = kNoLimit;
}

void ExampleChunk::take_lines(ExampleChunk& lines) {
  bytes.swap(lines.bytes);
  bad.swap(lines.bad);
  source = lines.source;
  first_line = lines.first_line;
  ends_source = lines.ends_source;
  place = lines.place;
}

void ExampleChunk::free_large() {
  free_if_large(bytes);
  free_if_large(examples);
  free_if_large(runs);
  free_if_large(features);
  free_if_large(names);
  free_if_large(bad);
}

std::size_t ExampleChunk::size_bytes() const {
  return array_bytes(bytes) + array_bytes(examples) + array_bytes(runs) + array_bytes(features) +
         array_bytes(names) + array_bytes(bad);
}

}  // namespace leveret::text
