#include "schema/escape.h"

#include <cstddef>

#include "convert/convert_vw.h"
#include "text/utf8.h"

namespace leveret::schema {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kMeanings = "=+,#";
  const bool is_utf8 = text::is_utf8(text);
  std::string to;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool means = convert::kMustEscape[byte] || kMeanings.find(c) != std::string_view::npos ||
                       (byte >= 0x80 && !is_utf8);
    char room[3];
    if (means) {
      to.append(room, convert::put_escape(room, c));
    } else {
      to += c;
    }
  }
  return to;
}

std::string unescaped(std::string_view text) {
  std::string to;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    if (low < 0) {
      to += text[i];
      continue;
    }
    to += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return to;
}

}  // namespace leveret::schema
