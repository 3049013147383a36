#include "modelfile/model_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace leveret::modelfile {
namespace {

/// Zero where the text is no line.
std::array<std::byte, 16> parse_line(const std::string& text) {
  std::array<std::byte, 16> line = {};
  if (text.size() != 2 * line.size()) return {};
  for (std::size_t i = 0; i < line.size(); ++i) {
    unsigned value = 0;
    const char* const end = text.data() + 2 * i + 2;
    if (std::from_chars(text.data() + 2 * i, end, value, 16).ptr != end) return {};
    line[i] = static_cast<std::byte>(value);
  }
  return line;
}

}  // namespace

ModelPlace place_of(const store::ModelFile& file) {
  using Json = nlohmann::json;
  ModelPlace place;
  const Json header = Json::parse(file.header_json(), nullptr, false);
  if (!header.is_object()) return place;
  if (const auto line = header.find("line"); line != header.end() && line->is_string()) {
    place.line = parse_line(line->get<std::string>());
  }
  const auto sequence = header.find("sequence");
  if (sequence != header.end() && sequence->is_number_unsigned()) {
    place.sequence = sequence->get<std::uint64_t>();
  }
  return place;
}

std::string line_text(const std::array<std::byte, 16>& line) {
  std::string text;
  for (const std::byte b : line) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

bool are_strangers(const std::array<std::byte, 16>& a, const std::array<std::byte, 16>& b) {
  const std::array<std::byte, 16> none = {};
  return a != none && b != none && a != b;
}

}  // namespace leveret::modelfile
