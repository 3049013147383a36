#include "daemon/json_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leveret::daemon {
namespace {

using nlohmann::json;

/// Makes lines as it reads, without a tree of what it has read.
class Reader {
 public:
  explicit Reader(JsonRequest& request) : request_(request) {}

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

  void check_whole() const {
    if (!has_candidates_) throw BadJson("the request has no \"candidates\"");
  }

 private:
  enum class At {
    kOutside,     ///< before the request, or behind it
    kRequest,     ///< its members
    kCandidates,  ///< the list
    kSpaces,      ///< the namespaces of the context or a candidate
    kFeatures,    ///< a namespace's list
    kValues,      ///< names with values, in a list or as the namespace
  };

  static std::string without_prefix(std::string text) {
    const std::size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
  }
  std::string where() const {
    if (line_ == &request_.context) return "context";
    return fmt::format("candidate {}", request_.count);
  }
  [[noreturn]] bool wrong(std::string_view what) const;
  bool number(const std::string& text);
  void start_line(std::string& line);
  void append_name(std::string_view name, const char* of);

  JsonRequest& request_;
  At at_ = At::kOutside;
  bool values_in_list_ = false;
  bool ended_ = false, has_candidates_ = false;
  std::string member_, name_;
  std::string* line_ = nullptr;  ///< of the context or a candidate
};

bool Reader::wrong(std::string_view what) const {
  switch (at_) {
    case At::kOutside:
      throw BadJson("the request must be an object with \"candidates\", and perhaps \"context\"");
    case At::kRequest:
      throw BadJson(member_ == "context" ? "\"context\" must be an object of namespaces"
                                         : "\"candidates\" must be a list of objects");
    case At::kCandidates:
      throw BadJson(fmt::format("candidate {} must be an object of namespaces", request_.count));
    case At::kSpaces:
      throw BadJson(fmt::format("{}: namespace \"{}\" must be a list of features, not {}", where(),
                                name_, what));
    case At::kFeatures:
      throw BadJson(fmt::format(
          "{}: a feature of namespace \"{}\" must be a name, or names with values, not {}", where(),
          name_, what));
    case At::kValues:
      throw BadJson(fmt::format("{}: a value in namespace \"{}\" must be a number, not {}", where(),
                                name_, what));
  }
  throw BadJson("is no request");
}

/// Text has no escapes, so what ends a name cannot be in one.
void Reader::append_name(std::string_view name, const char* of) {
  for (const char c : name) {
    if (c != ' ' && c != '\t' && c != '|' && c != ':' && c != '\n' && c != '\r') continue;
    throw BadJson(fmt::format("{}: the {} {} has {}, which names cannot have", where(), of,
                              json_string(name),
                              c == '|'   ? "a |"
                              : c == ':' ? "a colon"
                                         : "white space"));
  }
  *line_ += name;
}

void Reader::start_line(std::string& line) {
  line_ = &line;
  at_ = At::kSpaces;
}

bool Reader::start_object(std::size_t) {
  switch (at_) {
    case At::kOutside:
      if (ended_) wrong("");
      at_ = At::kRequest;
      return true;
    case At::kRequest:
      if (member_ != "context") wrong("an object");
      request_.has_context = true;
      start_line(request_.context);
      return true;
    case At::kCandidates:
      start_line(request_.candidates);
      return true;
    case At::kSpaces:
      values_in_list_ = false;
      at_ = At::kValues;
      return true;
    case At::kFeatures:
      values_in_list_ = true;
      at_ = At::kValues;
      return true;
    case At::kValues:
      return wrong("an object");
  }
  return true;
}

bool Reader::key(std::string& name) {
  if (at_ == At::kRequest) {
    if (name != "context" && name != "candidates") {
      throw BadJson(
          fmt::format("{}: is no member of a request; there are \"context\" and "
                      "\"candidates\"",
                      json_string(name)));
    }
    if ((name == "context" && request_.has_context) || (name == "candidates" && has_candidates_)) {
      throw BadJson(fmt::format("\"{}\" comes twice", name));
    }
    member_ = name;
  } else if (at_ == At::kSpaces) {
    name_ = name;
    *line_ += '|';
    append_name(name, "namespace");
  } else {
    if (name.empty()) throw BadJson(where() + ": a feature's name is empty");
    *line_ += ' ';
    append_name(name, "feature");
  }
  return true;
}

bool Reader::end_object() {
  if (at_ == At::kValues) {
    at_ = values_in_list_ ? At::kFeatures : At::kSpaces;
    if (!values_in_list_) *line_ += ' ';
  } else if (at_ == At::kSpaces) {
    *line_ += '|';  // so that it is no blank line
    if (line_ == &request_.context) {
      at_ = At::kRequest;
    } else {
      *line_ += '\n';
      ++request_.count;
      at_ = At::kCandidates;
    }
  } else {
    at_ = At::kOutside;
    ended_ = true;
  }
  return true;
}

bool Reader::start_array(std::size_t) {
  if (at_ == At::kRequest && member_ == "candidates") {
    has_candidates_ = true;
    at_ = At::kCandidates;
  } else if (at_ == At::kSpaces) {
    at_ = At::kFeatures;
  } else {
    wrong("a list");
  }
  return true;
}

bool Reader::end_array() {
  if (at_ == At::kFeatures) *line_ += ' ';
  at_ = at_ == At::kFeatures ? At::kSpaces : At::kRequest;
  return true;
}

bool Reader::string(std::string& text) {
  if (at_ == At::kValues) {
    if (text.empty()) throw BadJson(where() + ": a value is empty");
    *line_ += ':';
    append_name(text, "value");
    return true;
  }
  if (at_ != At::kFeatures && at_ != At::kSpaces) wrong("a string");
  if (text.empty()) throw BadJson(where() + ": a feature's name is empty");
  *line_ += ' ';
  append_name(text, "feature");
  if (at_ == At::kSpaces) *line_ += ' ';
  return true;
}

bool Reader::number(const std::string& text) {
  if (at_ != At::kValues) wrong("a number");
  *line_ += ':';
  *line_ += text;
  return true;
}

}  // namespace

JsonRequest read_json_request(std::string_view body) {
  JsonRequest request;
  Reader reader(request);
  json::sax_parse(body.begin(), body.end(), &reader);
  reader.check_whole();
  return request;
}

std::string json_string(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace leveret::daemon
