/// Numbers as people give them to options: one way to read them, whichever option it is.
///
/// All of a text is the number: no blanks, no sign but that of a real number or its exponent, no
/// hexadecimal, nothing that is not finite. No locale is asked.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace leveret::text {

/// As `high`: whatever has room.
inline constexpr std::uint64_t kAnyWhole = ~std::uint64_t{0};

/// Decimal digits that make a number from `low` to `high`; nothing where they do not.
std::optional<std::uint64_t> read_whole(std::string_view text, std::uint64_t low,
                                        std::uint64_t high);

/// The same with a power of 1024 behind it: K, M, G, T or P, of either case, alone or with B or iB;
/// or B alone. No E: 1e is what is left of an exponent, and nothing has that many bytes.
std::optional<std::uint64_t> read_size(std::string_view text, std::uint64_t low,
                                       std::uint64_t high);

/// A float or a double: digits with or without a point and an exponent.
template <class Real>
std::optional<Real> read_real(std::string_view text, Real low, Real high) {
  Real value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc() && at == end && value >= low && value <= high;
  return good ? std::optional<Real>(value) : std::nullopt;
}

/// The words for a text that is no such number: "a whole number from 1 to 256".
std::string whole_from_to(std::uint64_t low, std::uint64_t high);
/// As it was given; in quotation marks where it could not be seen otherwise.
std::string shown(std::string_view text);

}  // namespace leveret::text
