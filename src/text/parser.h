/// VW text to examples: grammar, hashes and number format of VW 9.11, without its silent repairs.
/// The grammar and every deliberate difference stand in man/leveret-text.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "text/example.h"
#include "text/hash.h"
#include "text/namespace_names.h"

namespace leveret::text {

struct ParserOptions {
  HashMode hash = HashMode::kStrings;  ///< --hash
  std::uint32_t hash_seed = 0;         ///< --hash_seed
  bool keep_names = false;             ///< fill ExampleChunk::names (audit)
  bool shared_label = false;           ///< "shared", VW's word for a context, is as no label
  std::uint32_t max_line = 1u << 30;   ///< bytes; a longer line is bad
  /// Namespaces whose numbers are read (namespace_number.h).
  std::vector<std::string> numbers = {};
  /// Some of `numbers`: a line whose namespace of this name is more than one feature, or one
  /// without a number, is bad.
  std::vector<std::string> only_numbers = {};
  /// Called with each parsed chunk: turns examples into bad lines that are more than a model takes.
  /// A parser has a copy of its own, which may remember what it has seen. Empty: takes all.
  std::function<void(const NamespaceNames&, ExampleChunk&)> limit = {};
};

/// One per thread. `names` is shared and must outlive it.
class Parser {
 public:
  Parser(NamespaceNames& names, ParserOptions options);
  Parser(Parser&&) noexcept;
  Parser& operator=(Parser&&) noexcept;
  ~Parser();

  /// Parses all of chunk.bytes (whole lines; the last may lack its newline) from chunk.first_line
  /// on and appends to the chunk's arrays. A bad line becomes a BadLine and leaves nothing else
  /// behind, not even a namespace name; blank lines are counted. Throws on no input, of any bytes;
  /// std::length_error if the caller lets a chunk grow beyond kMaxChunk, std::bad_alloc.
  void parse(ExampleChunk& chunk);

  /// Offsets into a chunk have 32 bits.
  static constexpr std::size_t kMaxChunk = 0xffffff00;

 private:
  class LineParser;
  const NamespaceNames* names_;
  std::function<void(const NamespaceNames&, ExampleChunk&)> limit_;
  std::unique_ptr<LineParser> lines_;
};

}  // namespace leveret::text
