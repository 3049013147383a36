/// Catch2 version 3 (Debian 13) under the names that version 2 (Debian 12) has, which the tests use.
/// CMake puts this folder first where version 3 is installed.
#pragma once

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
namespace Matchers {

inline StringContainsMatcher Contains(const std::string& part) { return ContainsSubstring(part); }

}  // namespace Matchers

using Matchers::Contains;
using Matchers::StartsWith;

}  // namespace Catch
