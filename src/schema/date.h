/// Dates and times as cells have them, and the features that they become.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace leveret::schema {

struct Moment {
  std::chrono::seconds since_1970{};  ///< UTC
  std::chrono::seconds offset{};      ///< of the clock that it was read from
  bool has_time = false;              ///< false: a day

  bool operator==(const Moment&) const = default;
};

/// ISO 8601, such as 2026-03-05, 2026-03-05T13:45:10.5+01:00, 2026-03-05 13:45Z, 20260305; or
/// seconds or milliseconds since 1970, as whole numbers. Without a zone it is UTC.
std::optional<Moment> read_date(std::string_view text);

/// Bytes that put_date and put_age write at most.
inline constexpr std::size_t kDateRoom = 32, kAgeRoom = 16;
/// Writes features by the clock that the moment was read from: the hour `h0` to `h23`, the day of
/// the week `d1` (Monday) to `d7`, and the hour of the week `w0` to `w167`; of a day, its day of
/// the week.
char* put_date(char* out, const Moment& moment);
/// `aN`, N = floor(log2(1 + minutes)), or `a-N` where it is negative.
char* put_age(char* out, std::chrono::seconds age);

}  // namespace leveret::schema
