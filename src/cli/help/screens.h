/// What a verb's `--help` prints: the options that people use, on one screen of 80 columns and 24
/// lines. A new option goes to `--help_all` (pages.h), which lists what a verb takes by itself.
#pragma once

#include <string_view>

namespace leveret::cli {

/// Empty where a program's verb has none.
std::string_view first_screen(std::string_view program, std::string_view verb);

/// What `leveret` alone prints: commands to begin with.
std::string_view opening_screen();

}  // namespace leveret::cli
