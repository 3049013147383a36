/// Which bytes are UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace leveret::text {

/// The bytes of the character at the front of a text that is not empty; 0: there is none.
std::size_t utf8_bytes(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace leveret::text
