#include "daemon/json_lines.h"

#include <optional>

#include "daemon/json_namespaces.h"

namespace leveret::daemon {

JsonLineMaker::JsonLineMaker(JsonRequest& request, schema::RequestRows* rows,
                             std::size_t max_object)
    : request_(request), rows_(rows), max_object_(max_object) {}

bool JsonLineMaker::append(std::string_view object, bool is_context, std::string& line,
                           std::string& why) {
  if (object.size() > max_object_) {
    why = "is longer than --max_line";
    return false;
  }
  if (const auto inner = inner_namespaces(object)) return append_namespaces(*inner, line, why);
  if (rows_ == nullptr) return append_namespaces(object, line, why);
  return is_context ? rows_->take_context(object, context_, line, why)
                    : rows_->take(object, context_, line, why);
}

std::string JsonLineMaker::context() {
  std::string line, why;
  if (!request_.context()) return line;
  try {
    if (append(*request_.context(), true, line, why)) return line;
  } catch (const std::runtime_error& error) {  // NoJson, BadJson
    why = error.what();
  }
  throw BadJson("context: " + why);
}

bool JsonLineMaker::next(std::size_t bytes, std::size_t cost, JsonLines& lines) {
  lines.text.clear();
  lines.why.clear();
  std::size_t taken = 0;
  while (taken < bytes) {
    const std::optional<std::string_view> object = request_.next();
    if (!object) break;
    std::string why;
    try {
      append(*object, false, lines.text, why);
    } catch (const std::runtime_error& error) {  // NoJson, BadJson: then it is no request
      throw BadJson("candidate: " + std::string(error.what()));
    }
    lines.why.push_back(std::move(why));
    taken += object->size() + cost;
  }
  return !lines.why.empty();
}

}  // namespace leveret::daemon
