/// VW text to examples: grammar, hashes and number format of VW 9.11, without its silent repairs.
/// The grammar and every deliberate difference stand in man/leveret-text.5.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/example.h"
#include "text/hash.h"
#include "text/namespace_names.h"

namespace leveret::text {

struct ParserOptions {
  HashMode hash = HashMode::kStrings;  ///< --hash
  std::uint32_t hash_seed = 0;         ///< --hash_seed
  bool keep_names = false;             ///< fill ExampleChunk::names (audit)
};

/// One per thread. `names` is shared and must outlive it.
class Parser {
 public:
  Parser(NamespaceNames& names, ParserOptions options);

  /// Parses all of chunk.bytes (whole lines; the last may lack its newline) from chunk.first_line
  /// on and appends to the chunk's arrays. A bad line becomes a BadLine and leaves nothing else
  /// behind; blank lines are counted. Never throws on any input, of any bytes.
  void parse(ExampleChunk& chunk);

 private:
  struct CachedName;
};

}  // namespace leveret::text
