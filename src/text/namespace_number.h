/// The number that a namespace of a line stands for (leveret-transforms(7)).
///
/// Hashes do not tell what a name was, so numbers are read with the text, for the namespaces in
/// ParserOptions::numbers alone, and go on as runs of their own: named number_run_name(namespace),
/// with hash 0 and one feature of hash 0 whose value is the number. A cache keeps them like any
/// run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace leveret::text {

/// No namespace of a text can have this name: a bar ends one.
inline std::string number_run_name(std::string_view space) {
  return std::string("|").append(space);
}

/// `text` is a namespace of a good line, from behind its bar to the next bar or the line's end. The
/// number is that of its first feature that has one: the value where one is written (x:37, :37),
/// else the name where it is a number (37), both times the namespace's weight; where there is a
/// weight (|age:37 x), a name that is no number counts as 1. A text as value is no number. Always
/// finite.
std::optional<float> namespace_number(std::string_view text);

/// How many features the text has, those of value 0 among them.
std::size_t namespace_features(std::string_view text);

}  // namespace leveret::text
