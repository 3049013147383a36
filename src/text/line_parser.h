/// The parser's state and its walk over lines, namespaces and features. Private to src/text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/text/text_kernels.h"
#include "text/chunk_writer.h"
#include "text/delimiters.h"
#include "text/namespace_cache.h"
#include "text/number.h"
#include "text/parser.h"

namespace leveret::text {

class Parser::LineParser {
 public:
  LineParser(NamespaceNames& names, ParserOptions options);

  void parse(ExampleChunk& chunk);

 private:
  enum class Line { kExample, kBlank, kBad };
  /// The parts that the features of a namespace have in common.
  struct Namespace {
    std::uint32_t hash;
    float weight;
    std::uint32_t next_anonymous;
  };

  // The parts of a line. Each starts with the cursor at the delimiter before the part and leaves it
  // at the one behind; false means that fail() was called.
  Line parse_line(std::uint32_t begin, ExampleChunk& chunk);
  Line parse_whole_line(std::uint32_t begin, ExampleChunk& chunk);
  bool parse_label(std::uint32_t begin, Example& example);
  bool parse_usual_label(std::uint32_t begin, Example& example);
  void parse_usual_namespaces();
  std::size_t add_usual_namespaces(std::span<const std::uint32_t> delimiters);
  bool add_usual_namespace(std::span<const std::uint32_t> delimiters);
  void add_plain(std::uint32_t begin, std::uint32_t end, PlainNamespace space);
  bool parse_namespace();
  std::uint32_t pass_blanks(std::uint32_t begin, bool tabs);
  bool parse_weight(std::uint32_t name_size, float& weight);
  bool parse_features(Namespace& space);
  bool parse_value(Namespace& space, std::uint32_t name_begin, std::uint32_t name_size);
  void add_string_value(Namespace& space, FeatureName text);
  void add(Feature feature, FeatureName text);
  bool add_number(std::uint32_t space_begin);

  bool name_new_namespaces();
  void add_bad_line(std::uint32_t begin, std::uint64_t line, ExampleChunk& chunk);

  /// Delimiter under the cursor; '\n' or '\0' is the end of the line.
  char delimiter() const { return text_[cursor_.position()]; }
  bool at_line_end() const { return delimiter() == '\n' || delimiter() == '\0'; }
  /// End of the token before the cursor: a carriage return that ends the line is not part of it.
  std::uint32_t token_end() const;
  std::string_view view(std::uint32_t begin, std::uint32_t end) const {
    return {text_ + begin, end - begin};
  }
  std::optional<std::uint64_t> short_name(std::uint32_t begin, std::uint32_t end) const;
  /// hash_name of the text's bytes [begin, end).
  std::uint32_t hash(std::uint32_t begin, std::uint32_t end, std::uint32_t seed) const;
  bool fail(const char* what, std::uint32_t at) {
    what_ = what;
    fault_ = at;
    return false;
  }

  const kernels::TextKernels& kernels_;
  NamespaceNames& names_;
  ParserOptions options_;
  // The kernel looks at sixteen namespaces: where it finds few, so many are taken singly before it
  // is asked again.
  static constexpr std::size_t kFew = 4, kSingly = 32;
  NamespaceCache known_;
  NamespaceCache number_runs_;  ///< by the namespaces in options_.numbers
  DelimiterCursor cursor_;
  ChunkWriter out_;
  std::vector<std::uint32_t> only_of_line_;  ///< runs of this line that are options_.only_numbers
  std::vector<std::string_view> new_names_;  ///< of this line's runs, not in known_ yet
  const char* text_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t line_begin_ = 0;
  const char* what_ = nullptr;  ///< why the line is bad, and where
  std::uint32_t fault_ = 0;
};

}  // namespace leveret::text
