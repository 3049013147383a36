/// Names and values in a schema's text: bytes that mean something there are %XX, as in URLs.
#pragma once

#include <string>
#include <string_view>

namespace leveret::schema {

/// Blanks, control bytes and any of `|:%=+,#` are escaped; where the text is no UTF-8, which JSON
/// needs, all bytes that are no ASCII.
std::string escaped(std::string_view text);
/// The text back; a % that two hexadecimal digits do not follow stays.
std::string unescaped(std::string_view text);

}  // namespace leveret::schema
