/// Chunks of examples of what other programs hand in, as text or as arrays, and what is wrong with
/// them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "leveret/leveret.h"
#include "text/example.h"
#include "text/parser.h"

namespace leveret::serve {

/// Thrown where a caller asks for what it may not; what() says why.
struct BadArgument : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Text that is no example; what() names line and column.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A namespace.
struct Space {
  std::uint32_t name;  ///< in the names of the model's reader
  std::uint32_t hash;
};

std::string about(const text::BadLine& bad);
/// BadLine about the first line that is no example, if there is one.
void check_lines(const text::ExampleChunk& chunk);

/// BadArgument where a model reads numbers, which only text has.
void need_arrays(const text::ParserOptions& parser);
/// Appends an example with these features, without a label. `space_of`: the namespace that a
/// leveret_feature::space stands for. BadArgument where a value is not finite, or there are too
/// many.
void append_example(std::span<const leveret_feature> features,
                    const std::function<Space(std::uint32_t)>& space_of, text::ExampleChunk& to);

}  // namespace leveret::serve
