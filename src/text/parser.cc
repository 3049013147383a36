#include "text/parser.h"

#include <stdexcept>
#include <utility>

#include "text/line_parser.h"

namespace leveret::text {

Parser::Parser(NamespaceNames& names, ParserOptions options)
    : names_(&names),
      limit_(std::move(options.limit)),
      lines_(std::make_unique<LineParser>(names, std::move(options))) {}
Parser::Parser(Parser&&) noexcept = default;
Parser& Parser::operator=(Parser&&) noexcept = default;
Parser::~Parser() = default;

void Parser::parse(ExampleChunk& chunk) {
  if (chunk.bytes.size() > kMaxChunk) {
    throw std::length_error("a chunk of text is larger than 4 GiB; cut it at line ends");
  }
  lines_->parse(chunk);
  if (limit_) limit_(*names_, chunk);
}

}  // namespace leveret::text
