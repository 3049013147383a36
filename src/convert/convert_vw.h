/// Pieces of VW text as the converters write them: into memory they have made room for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leveret::convert {

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

/// Whether none of the 8 bytes from `p` on must be escaped (all 8 looked at at once; "Determine if
/// a word has a byte less than n", Anderson, Bit Twiddling Hacks).
inline bool eight_plain(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  std::uint64_t x = 0;
  std::memcpy(&x, p, 8);
  auto zeros = [](std::uint64_t v) { return (v - kOnes) & ~v; };
  std::uint64_t found = ((x - kOnes * 0x21) & ~x) | zeros(x ^ (kOnes * '|')) |
                        zeros(x ^ (kOnes * ':')) | zeros(x ^ (kOnes * '%')) |
                        zeros(x ^ (kOnes * 0x7f));
  return (found & kHigh) == 0;
}

/// Writes `from`, escaped; needs room for kEscapeGrowth times its size.
inline char* put_escaped(char* out, std::string_view from) {
  const char *p = from.data(), *end = p + from.size();
  for (; end - p >= 8 && eight_plain(p); p += 8, out += 8) std::memcpy(out, p, 8);
  for (; p != end; ++p) {
    if (kMustEscape[static_cast<unsigned char>(*p)]) {
      out = put_escape(out, *p);
    } else {
      *out++ = *p;
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
class Prefix {
 public:
  explicit Prefix(std::string_view name) : text_(name.size() * kEscapeGrowth + 3, ' ') {
    text_[1] = '|';
    char* end = put_escaped(text_.data() + 2, name);
    text_.resize(static_cast<std::size_t>(end - text_.data()) + 1);
    text_.back() = ' ';
    std::memcpy(head_.data(), text_.data(), std::min(text_.size(), head_.size()));
  }

  std::string_view text() const { return text_; }
  /// Bytes that write() may touch.
  std::size_t room() const { return std::max(text_.size(), head_.size()); }
  /// Nearly all prefixes are short; those are written as 16 bytes at once.
  char* write(char* out) const {
    if (text_.size() > head_.size()) return put(out, text_);
    std::memcpy(out, head_.data(), head_.size());
    return out + text_.size();
  }

 private:
  std::string text_;
  std::array<char, 16> head_{};
};

}  // namespace leveret::convert
