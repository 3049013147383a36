/// Names are bytes of any kind, and JSON is UTF-8: there each byte is the character of its value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leveret::text {

std::string to_characters(std::string_view bytes);
/// The bytes again; nothing where the text has characters that no byte is.
std::optional<std::string> from_characters(std::string_view characters);

}  // namespace leveret::text
