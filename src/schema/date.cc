#include "schema/date.h"

#include <bit>
#include <charconv>
#include <cstdint>

#include "text/plain_number.h"

namespace leveret::schema {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// Takes parts from the front of a text.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits.
  std::optional<unsigned> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    unsigned value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = 10 * value + static_cast<unsigned>(c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  void pass_digits() {
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') rest_.remove_prefix(1);
  }

 private:
  std::string_view rest_;
};

std::optional<seconds> read_day(Parts& parts) {
  const auto year = parts.number(4);
  const bool parted = year && parts.take('-');
  const auto month = year ? parts.number(2) : std::nullopt;
  if (!month || (parted && !parts.take('-'))) return std::nullopt;
  const auto day = parts.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch();
}

/// Hours and minutes, with a colon between or none.
std::optional<seconds> read_clock(Parts& parts) {
  const auto hour = parts.number(2);
  if (!hour || *hour > 24) return std::nullopt;
  parts.take(':');
  const auto minute = parts.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  return hours(*hour) + minutes(*minute);
}

/// The clock's time, with seconds where it has some; parts of a second are left out.
std::optional<seconds> read_time(Parts& parts) {
  auto time = read_clock(parts);
  if (!time) return std::nullopt;
  parts.take(':');
  if (const auto second = parts.number(2)) {
    if (*second > 60) return std::nullopt;  // 60: a leap second
    *time += seconds(*second);
    if (parts.take('.') || parts.take(',')) parts.pass_digits();
  }
  return time;
}

/// Behind the time: Z, +01:00, +0100, +01, or nothing.
std::optional<seconds> read_zone(Parts& parts) {
  parts.take(' ');
  if (parts.is_at_end() || parts.take('Z') || parts.take('z')) return seconds(0);
  const bool west = parts.take('-');
  if (!west && !parts.take('+')) return std::nullopt;
  const auto hour = parts.number(2);
  if (!hour || *hour > 14) return std::nullopt;
  seconds offset = hours(*hour);
  parts.take(':');
  if (const auto minute = parts.number(2)) offset += minutes(*minute);
  return west ? -offset : offset;
}

std::optional<Moment> read_iso(std::string_view text) {
  Parts parts(text);
  const auto day = read_day(parts);
  if (!day) return std::nullopt;
  Moment moment{*day};
  if (parts.is_at_end()) return moment;
  if (!parts.take('T') && !parts.take('t') && !parts.take(' ')) return std::nullopt;
  const auto time = read_time(parts);
  const auto offset = time ? read_zone(parts) : std::nullopt;
  if (!offset || !parts.is_at_end()) return std::nullopt;
  return Moment{*day + *time - *offset, *offset, true};
}

/// Whole numbers of more digits than a day has.
std::optional<Moment> read_epoch(std::string_view text) {
  constexpr std::uint64_t kMilliseconds = 100'000'000'000, kMost = 100'000'000'000'000;
  const auto number = text::read_whole(text, 0, kMost);
  if (!number || text.size() <= 8) return std::nullopt;
  const std::uint64_t count = *number >= kMilliseconds ? *number / 1000 : *number;
  return Moment{seconds(count), seconds(0), true};
}

char* put_number(char* out, char letter, std::int64_t number) {
  *out++ = letter;
  return std::to_chars(out, out + 8, number).ptr;
}

}  // namespace

std::optional<Moment> read_date(std::string_view text) {
  if (const auto moment = read_iso(text)) return moment;
  return read_epoch(text);
}

char* put_date(char* out, const Moment& moment) {
  const seconds clock = moment.since_1970 + moment.offset;
  const days day = std::chrono::floor<days>(clock);
  const auto weekday =
      static_cast<int>(std::chrono::weekday(std::chrono::sys_days(day)).iso_encoding());
  if (!moment.has_time) return put_number(out, 'd', weekday);
  const auto hour = std::chrono::duration_cast<hours>(clock - day).count();
  out = put_number(out, 'h', hour);
  *out++ = ' ';
  out = put_number(out, 'd', weekday);
  *out++ = ' ';
  return put_number(out, 'w', (weekday - 1) * 24 + hour);
}

char* put_age(char* out, std::chrono::seconds age) {
  const auto passed = static_cast<std::uint64_t>(std::chrono::abs(age) / minutes(1));
  const int bucket = std::bit_width(passed + 1) - 1;
  *out++ = 'a';
  if (age < seconds(0)) *out++ = '-';
  return std::to_chars(out, out + 8, bucket).ptr;
}

}  // namespace leveret::schema
