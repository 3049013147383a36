/// The file of `--field @FILE`: fields of the factorization machine, one a line.
#pragma once

#include <string>

namespace leveret::options {

/// What `--field` takes for them: the fields, separated by blanks. std::runtime_error names the
/// file and the line.
std::string read_field_file(const std::string& path);

}  // namespace leveret::options
