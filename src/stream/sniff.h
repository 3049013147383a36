/// The format of a file by its first bytes.
#pragma once

#include <string_view>

namespace leveret::stream {

enum class Format {
  kNeedMore,  ///< the bytes so far begin more than one format
  kText,
  kGzip,
  kZstd,
  kForeign,  ///< a known format that is no text
};

struct Sniffed {
  Format format;
  const char* what;  ///< kForeign: what it is and what to do, for the user
};

/// Decides as early as the bytes allow: never asks for more after a line end, so the first line of
/// a pipe is not held back.
Sniffed sniff(std::string_view head);

/// The format of a whole file that sniff() needs more of: compressed and cut off within its first
/// bytes, where these are not those of a text, else text.
Format sniff_whole(std::string_view file);

/// Null when `block`, the first block of a text, may be text; else what it looks like.
const char* looks_binary(std::string_view block);

}  // namespace leveret::stream
