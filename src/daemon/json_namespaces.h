/// Features by their namespaces in JSON, the object that a line of VW text is:
///
///     {"user": ["a", {"b": 2}], "ad": {"x": 0.5}, "page": "news"}
///
/// A namespace is a list of features, each a name, or names with values; or names with values
/// alone, or one name.
#pragma once

#include <string>
#include <string_view>

#include "daemon/json_scan.h"

namespace leveret::daemon {

/// Appends the line of VW text that says the same, with its end. False: nothing is appended, and
/// `why` says what is wrong with it. BadJson where the text is no JSON.
bool append_namespaces(std::string_view object, std::string& line, std::string& why);

}  // namespace leveret::daemon
