/// Requests in JSON:
///
///     {"context": OBJECT, "candidates": [OBJECT, ...]}
///
/// Here they are cut into the texts of their objects, which are read one by one (json_lines.h): so
/// an object that is wrong is its candidate's alone, and a long request is read in pieces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/json_scan.h"

namespace leveret::daemon {

/// Over the bytes of a body, which outlives it.
class JsonRequest {
 public:
  explicit JsonRequest(std::string_view body) : scan_(body) {}

  /// Looks at so many bytes, or a little more, until it knows the request; false: it does. BadJson
  /// where it is no such request; the insides of objects are yet to be read.
  bool read(std::size_t bytes);

  // Behind that:

  /// Its text; nothing where it has none.
  std::optional<std::string_view> context() const { return context_; }
  /// The text of the next candidate; nothing behind the last one.
  std::optional<std::string_view> next();

 private:
  enum class At {
    kStart,      ///< before the request
    kMember,     ///< before one of its members
    kBehind,     ///< a member
    kCandidate,  ///< before one of the list
    kEnd,        ///< behind the request
    kRead,
  };

  At step();
  At take_member();
  std::optional<std::string_view> take_candidate();

  JsonScan scan_;
  At state_ = At::kStart;
  std::optional<std::string_view> context_;
  std::optional<std::size_t> candidates_;  ///< where the list begins, behind its bracket
  std::size_t met_ = 0;                    ///< candidates, since the list began
};

/// The text of the object's member "namespaces", where that is its only one, and an object.
std::optional<std::string_view> inner_namespaces(std::string_view object);

/// `text` as a string of JSON, with its quotes.
std::string json_string(std::string_view text);

}  // namespace leveret::daemon
