#include "schema/date.h"

#include <catch2/catch.hpp>
#include <string>

#include "reading.h"

using namespace leveret::schema;
using namespace leveret::schema::testing;

namespace {

std::string features_of(std::string_view text) {
  const auto moment = read_date(text);
  if (!moment) return "none";
  char room[kDateRoom];
  return std::string(room, put_date(room, *moment));
}

std::string age_of(long long seconds) {
  char room[kAgeRoom];
  return std::string(room, put_age(room, std::chrono::seconds(seconds)));
}

}  // namespace

TEST_CASE("dates are read as ISO 8601 has them, and as times since 1970", "[schema]") {
  // 2026-03-05 is a Thursday.
  for (const char* const text :
       {"2026-03-05T13:45:10", "2026-03-05 13:45", "2026-03-05T13:45:10.25Z", "20260305T134510",
        "2026-03-05T13:45:10+05:30", "2026-03-05T13:45-08", "2026-03-05t13:45:60,5 +0100",
        "1772718310", "1772718310123"}) {
    INFO(text);
    CHECK(features_of(text) == "h13 d4 w85");
  }
  CHECK(read_date("2026-03-05T13:45:10+05:30")->since_1970.count() == 1772718310 - 19800);
  CHECK(read_date("2026-03-05T13:45:10-08:00")->since_1970.count() == 1772718310 + 28800);
  CHECK(features_of("2026-03-05") == "d4");
  CHECK(features_of("20260305") == "d4");
  CHECK(features_of("2024-02-29") == "d4");
  CHECK(features_of("1969-12-31T23:59:59Z") == "h23 d3 w71");
  CHECK(features_of("2026-03-01T00:00-12:00") == "h0 d7 w144");
  for (const char* const text :
       {"", "2026", "2026-3-5", "2026-02-30", "2023-02-29", "2026-13-01", "2026-03-05T",
        "2026-03-05T25:00", "2026-03-05T13:60", "2026-03-05T13:45:10+", "2026-03-05T13:45:10 UTC",
        "2026-03-05x", "05.03.2026", "-1772718310", "1.5", "12345", "99999999999999999999",
        "2026-03-05T13:45:10Z x"}) {
    INFO(text);
    CHECK(features_of(text) == "none");
  }
  CHECK(age_of(0) == "a0");
  CHECK(age_of(59) == "a0");
  CHECK(age_of(60) == "a1");
  CHECK(age_of(86400) == "a10");
  CHECK(age_of(-86400) == "a-10");
  CHECK(age_of(253402300799) == "a31");
}

TEST_CASE("columns of dates are told by their values and names", "[schema]") {
  const ReadRows read = read_rows(
      "label,seen,made,ts,n,day\n"
      "1,2026-03-05T13:45:10Z,2026-03-04T13:45:10Z,1772718310,1772718310,20260305\n"
      "0,,2026-03-06T13:45:10Z,1772718311,1772718312,NA\n"
      "1,2026-03-05,soon,1772718311,3,20260305\n",
      options_of("csv", {"made=date:age_at=seen", "day=date"}));
  CHECK(to_text(read.schema) ==
        "label label\nseen date\nmade date:age_at=seen\nts date\nn number:edges=3+1772718310+"
        "1772718312\nday date\n");
  CHECK(read.text ==
        "1 |seen h13 d4 w85 |made h13 d3 w61 a10 |ts h13 d4 w85 |n b1 |day d4\n"
        "-1 |made h13 d5 w109 |ts h13 d4 w85 |n b2\n");
  REQUIRE(read.bad.size() == 1);
  CHECK(read.bad[0].starts_with("2: not a date as ISO 8601 has it"));
  CHECK_THROWS_AS(from_text("a date:age_at=b\n"), std::runtime_error);
  CHECK_THROWS_AS(read_rows("label,a\n1,2026-03-05\n", options_of("csv", {"a=date:age_at=b"})),
                  std::runtime_error);
}
