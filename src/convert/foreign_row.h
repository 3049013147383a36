/// The format that a line may have which is no VW text.
#pragma once

#include <string_view>

namespace leveret::convert {

/// The format by which `leveret convert` would read such a line ("criteo", "avazu", "csv",
/// "libffm"), as far as the line tells; null when it looks like none of them.
const char* foreign_row(std::string_view line);

}  // namespace leveret::convert
