/// Runs a converter over a text, fed in pieces of a given size, and keeps what it says.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convert/convert_csv.h"
#include "convert/convert_rows.h"

namespace leveret::convert {

struct Converted {
  struct Bad {
    std::uint64_t line, column;
    std::string what, row;
    bool operator==(const Bad&) const = default;
  };
  std::string text;
  std::vector<Bad> bad;
  std::vector<ConvertRemark> remarks;
  ConvertCounts counts;
};

/// `make` builds the converter from its callbacks.
template <class Make>
Converted convert_text(const Make& make, std::string_view source, std::size_t piece = 1 << 20) {
  Converted result;
  auto converter = make(ConvertCallbacks{
      [&](std::string_view text) { result.text += text; },
      [&](const BadRow& bad) {
        result.bad.push_back({bad.line, bad.column, bad.what, std::string(bad.row)});
      },
      [&](const ConvertRemark& remark) { result.remarks.push_back(remark); }});
  while (!source.empty()) {
    converter->feed(source.substr(0, piece));
    source.remove_prefix(std::min(piece, source.size()));
  }
  converter->finish_source();
  result.counts = converter->counts();
  return result;
}

inline auto csv(CsvOptions options = {}) {
  return [options](ConvertCallbacks c) {
    return std::make_unique<CsvConverter>(options, std::move(c));
  };
}

}  // namespace leveret::convert
