/// Pieces of VW text as the converters write them: into memory they have made room for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leveret::text {

/// VW text has no quoting, so bytes that mean something in it are written as %XX (upper-case hex,
/// as in URLs): all bytes up to and including space, DEL, `|`, `:` and `%` itself. Different values
/// stay different.
inline constexpr std::array<bool, 256> kMustEscape = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c <= ' '; ++c) table[c] = true;
  table['|'] = table[':'] = table['%'] = table[0x7f] = true;
  return table;
}();

inline constexpr std::size_t kEscapeGrowth = 3;  ///< a byte becomes at most this many

inline char* put_escape(char* out, char c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  auto byte = static_cast<unsigned char>(c);
  *out++ = '%';
  *out++ = kHex[byte >> 4];
  *out++ = kHex[byte & 15];
  return out;
}

/// Writes `from`, escaped; needs room for kEscapeGrowth times its size.
inline char* put_escaped(char* out, std::string_view from) {
  for (char c : from) {
    if (kMustEscape[static_cast<unsigned char>(c)]) {
      out = put_escape(out, c);
    } else {
      *out++ = c;
    }
  }
  return out;
}

inline char* put(char* out, std::string_view from) {
  std::memcpy(out, from.data(), from.size());
  return out + from.size();
}

/// Ends a line of which [begin, out) is written so far: label, then " |ns feature ..." runs. A line
/// without features keeps an empty namespace, so that it is never blank; one without a label loses
/// the space in front of its first bar.
inline char* end_line(char* begin, char* label_end, char* out) {
  if (out == label_end) out = put(out, " |");
  if (label_end == begin) {
    std::memmove(begin, begin + 1, static_cast<std::size_t>(out - begin) - 1);
    --out;
  }
  *out++ = '\n';
  return out;
}

inline constexpr std::size_t kLineRoom = 32;  ///< label, importance and what end_line adds

/// " |name " with the name escaped: what stands before the features of a column.
inline std::string namespace_prefix(std::string_view name) {
  std::string prefix(name.size() * kEscapeGrowth + 3, ' ');
  prefix[1] = '|';
  char* end = put_escaped(prefix.data() + 2, name);
  prefix.resize(static_cast<std::size_t>(end - prefix.data()) + 1);
  prefix.back() = ' ';
  return prefix;
}

}  // namespace leveret::text
