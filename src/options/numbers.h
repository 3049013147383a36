/// Numbers and words of options, for CLI::Option::transform: read by text/plain_number.h, so that
/// all options refuse the same words, in the same sentence. (CLI11 reads and says them otherwise in
/// each version.) What the parser of options then converts is plain decimal digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/cli11_fwd.h"

namespace leveret::options {

/// Whole numbers from `least` to `most`.
CLI::Validator within(std::uint64_t least, std::uint64_t most);
/// The same with a suffix, as text::read_size has it.
CLI::Validator bytes_within(std::uint64_t least, std::uint64_t most);
/// Numbers with a point.
CLI::Validator real_within(float least, float most);
/// Some whole numbers.
CLI::Validator one_of(std::vector<std::uint64_t> numbers);
/// Some words.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace leveret::options
