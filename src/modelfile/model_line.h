/// The place of a model file among others, as its header has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "store/model_file.h"

namespace leveret::modelfile {

/// No sequence is told. Patches have the same number for it.
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};

struct ModelPlace {
  std::array<std::byte, 16> line = {};   ///< models that one can become another; zero: none is told
  std::uint64_t sequence = kNoSequence;  ///< examples learned
};

ModelPlace place_of(const store::ModelFile& file);

/// 32 hexadecimal digits.
std::string line_text(const std::array<std::byte, 16>& line);

/// Whether both tell a line, and not the same.
bool are_strangers(const std::array<std::byte, 16>& a, const std::array<std::byte, 16>& b);

}  // namespace leveret::modelfile
