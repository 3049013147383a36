#include "text/byte_characters.h"

namespace leveret::text {

std::string to_characters(std::string_view bytes) {
  std::string characters;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      characters += c;
    } else {
      characters += static_cast<char>(0xc0 | (byte >> 6));
      characters += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return characters;
}

std::optional<std::string> from_characters(std::string_view characters) {
  std::string bytes;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const auto byte = static_cast<unsigned char>(characters[i]);
    if (byte < 0x80) {
      bytes += characters[i];
    } else if (i + 1 < characters.size() && (byte & 0xfc) == 0xc0) {
      bytes += static_cast<char>((byte << 6) | (characters[++i] & 0x3f));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace leveret::text
