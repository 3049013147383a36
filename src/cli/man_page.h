/// The pages of man(1), where the program is installed with them.
#pragma once

#include <string>

namespace leveret::cli {

/// Becomes `man SECTION PAGE`. Returns, and has printed nothing, where there is no man or no such
/// page.
void become_man_page(const char* section, const std::string& page);

}  // namespace leveret::cli
