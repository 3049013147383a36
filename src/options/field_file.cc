#include "options/field_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>

#include "stream/bad_lines.h"

namespace leveret::options {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view without_comment_and_blanks(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

/// Why the line is no field; nullptr: it is one.
const char* fault(std::string_view field) {
  if (field.find_first_of(kBlanks) != std::string_view::npos) {
    return "has a blank within; a field is a line, its namespaces are separated by commas alone";
  }
  if (field.find_first_of("|:") != std::string_view::npos) {
    return "has a | or a colon, which no name of a namespace has";
  }
  if (field.front() == ',' || field.back() == ',' || field.find(",,") != std::string_view::npos) {
    return "has a comma without a namespace on both sides";
  }
  return nullptr;
}

}  // namespace

std::string read_field_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(
        fmt::format("--field @{}: cannot read it: {}", path, std::strerror(errno)));
  }
  std::string fields, line;
  std::map<std::string, std::size_t, std::less<>> line_of;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string_view field = without_comment_and_blanks(line);
    if (field.empty()) continue;
    if (const char* const what = fault(field)) {
      throw std::runtime_error(
          fmt::format("--field @{}: line {} ({}) {}", path, number, stream::escaped(field), what));
    }
    const auto [before, is_new] = line_of.emplace(field, number);
    if (!is_new) {
      throw std::runtime_error(
          fmt::format("--field @{}: line {} ({}) is line {} again; leave one out", path, number,
                      stream::escaped(field), before->second));
    }
    fields.append(fields.empty() ? "" : " ").append(field);
  }
  if (file.bad()) throw std::runtime_error(fmt::format("--field @{}: cannot read it", path));
  if (fields.empty()) {
    throw std::runtime_error(fmt::format(
        "--field @{}: names no field; a field is a line of namespaces: NS[,NS...]", path));
  }
  return fields;
}

}  // namespace leveret::options
