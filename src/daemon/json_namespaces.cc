#include "daemon/json_namespaces.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "daemon/json_request.h"

namespace leveret::daemon {
namespace {

using nlohmann::json;

/// The object is JSON, and no features by their namespaces.
struct NoFeatures : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes a line as it reads, without a tree of what it has read.
class NamespaceReader {
 public:
  explicit NamespaceReader(std::string& line) : line_(line) {}

  // The functions that nlohmann::json::sax_parse calls. False would end it without a word, so
  // errors are thrown.
  bool null() { return wrong("null"); }
  bool boolean(bool value) { return wrong(value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) { return number(fmt::format("{}", value)); }
  bool number_unsigned(json::number_unsigned_t value) { return number(fmt::format("{}", value)); }
  bool number_float(json::number_float_t, const std::string& text) { return number(text); }
  bool string(std::string& text);
  bool binary(json::binary_t&) { return wrong("binary"); }
  bool start_object(std::size_t);
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception& error) {
    throw BadJson(fmt::format("byte {}: {}", at, without_prefix(error.what())));
  }

 private:
  enum class At {
    kOutside,   ///< before the object, or behind it
    kSpaces,    ///< its namespaces
    kFeatures,  ///< a namespace's list
    kValues,    ///< names with values, in a list or as the namespace
  };

  static std::string without_prefix(std::string text) {
    const std::size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
  }
  [[noreturn]] bool wrong(std::string_view what) const;
  bool number(const std::string& text);
  void append_name(std::string_view name, const char* of);

  std::string& line_;
  At at_ = At::kOutside;
  bool values_in_list_ = false;
  std::string name_;
};

bool NamespaceReader::wrong(std::string_view what) const {
  switch (at_) {
    case At::kOutside:
      throw NoFeatures("it must be an object of namespaces");
    case At::kSpaces:
      throw NoFeatures(
          fmt::format("namespace \"{}\" must be a list of features, not {}", name_, what));
    case At::kFeatures:
      throw NoFeatures(
          fmt::format("a feature of namespace \"{}\" must be a name, or names with values, not {}",
                      name_, what));
    case At::kValues:
      break;
  }
  throw NoFeatures(
      fmt::format("a value in namespace \"{}\" must be a number, not {}", name_, what));
}

/// Text has no escapes, so what ends a name cannot be in one.
void NamespaceReader::append_name(std::string_view name, const char* of) {
  for (const char c : name) {
    if (c != ' ' && c != '\t' && c != '|' && c != ':' && c != '\n' && c != '\r') continue;
    throw NoFeatures(fmt::format("the {} {} has {}, which names cannot have", of, json_string(name),
                                 c == '|'   ? "a |"
                                 : c == ':' ? "a colon"
                                            : "white space"));
  }
  line_ += name;
}

bool NamespaceReader::start_object(std::size_t) {
  if (at_ == At::kValues) return wrong("an object");
  values_in_list_ = at_ == At::kFeatures;
  at_ = at_ == At::kOutside ? At::kSpaces : At::kValues;
  return true;
}

bool NamespaceReader::key(std::string& name) {
  if (at_ == At::kSpaces) {
    name_ = name;
    line_ += '|';
    append_name(name, "namespace");
    return true;
  }
  if (name.empty()) throw NoFeatures("a feature's name is empty");
  line_ += ' ';
  append_name(name, "feature");
  return true;
}

bool NamespaceReader::end_object() {
  if (at_ == At::kValues) {
    at_ = values_in_list_ ? At::kFeatures : At::kSpaces;
    if (!values_in_list_) line_ += ' ';
    return true;
  }
  line_ += "|\n";  // so that it is no blank line
  at_ = At::kOutside;
  return true;
}

bool NamespaceReader::start_array(std::size_t) {
  if (at_ != At::kSpaces) return wrong("a list");
  at_ = At::kFeatures;
  return true;
}

bool NamespaceReader::end_array() {
  line_ += ' ';
  at_ = At::kSpaces;
  return true;
}

bool NamespaceReader::string(std::string& text) {
  if (at_ == At::kValues) {
    if (text.empty()) throw NoFeatures("a value is empty");
    line_ += ':';
    append_name(text, "value");
    return true;
  }
  if (text.empty()) throw NoFeatures("a feature's name is empty");
  line_ += ' ';
  append_name(text, "feature");
  if (at_ == At::kSpaces) line_ += ' ';
  return true;
}

bool NamespaceReader::number(const std::string& text) {
  if (at_ != At::kValues) return wrong("a number");
  line_ += ':';
  line_ += text;
  return true;
}

}  // namespace

bool append_namespaces(std::string_view object, std::string& line, std::string& why) {
  const std::size_t before = line.size();
  NamespaceReader reader(line);
  try {
    json::sax_parse(object.begin(), object.end(), &reader);
    return true;
  } catch (const NoFeatures& error) {
    why = error.what();
  }
  line.resize(before);
  return false;
}

}  // namespace leveret::daemon
