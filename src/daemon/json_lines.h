/// The objects of a request in JSON as lines of VW text: rows by a model's schema, else namespaces
/// (json_namespaces.h), which {"namespaces": OBJECT} says to any model.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/json_request.h"
#include "schema/request_rows.h"

namespace leveret::daemon {

/// Lines that some candidates of a request have become, in their order.
struct JsonLines {
  std::string text;              ///< a line for each candidate that has one
  std::vector<std::string> why;  ///< of each candidate: why it has no line; empty: it has one
};

/// One request's. `rows` is null where the model has no schema; it and `request` outlive it.
class JsonLineMaker {
 public:
  /// `max_object`: bytes of an object; a longer one is none.
  JsonLineMaker(JsonRequest& request, schema::RequestRows* rows, std::size_t max_object);

  /// The line of its context, where it has one. BadJson.
  std::string context();
  /// Lines of further candidates, about `bytes` long, each of which counts as `cost` more; false:
  /// there are none. BadJson.
  bool next(std::size_t bytes, std::size_t cost, JsonLines& lines);

 private:
  bool append(std::string_view object, bool is_context, std::string& line, std::string& why);

  JsonRequest& request_;
  schema::RequestRows* const rows_;  ///< shared with other requests of the thread
  schema::ContextColumns context_;   ///< of its context of raw rows
  const std::size_t max_object_;
};

}  // namespace leveret::daemon
