#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "metrics/progress.h"

namespace leveret::metrics {
namespace {

/// The counters at which a line is printed.
std::vector<std::uint64_t> due_at(const char* interval, std::uint64_t until) {
  Progress progress(ProgressInterval::parse(interval));
  std::vector<std::uint64_t> out;
  for (std::uint64_t n = 1; n <= until; ++n)
    if (progress.due(n)) {
      progress.line(n, MetricsSnapshot{}, 1, 0.5f, 1);
      out.push_back(n);
    }
  return out;
}

}  // namespace

TEST_CASE("a line is due as with VW's -P") {
  using Counters = std::vector<std::uint64_t>;
  CHECK(due_at("2.0", 40) == Counters{1, 2, 4, 8, 16, 32});
  CHECK(due_at("10", 35) == Counters{10, 20, 30});
  CHECK(due_at("1", 3) == Counters{1, 2, 3});
  CHECK(due_at("1.5", 10) == Counters{1, 2, 3, 5, 8});
}

TEST_CASE("an interval that would never advance is refused with advice") {
  for (const char* bad : {"0", "-1", "1.0", "0.5", "nan", "inf", "1e999", "x", "", "3x", "1e-3"})
    CHECK_THROWS_AS(ProgressInterval::parse(bad), std::runtime_error);
  CHECK_THROWS_WITH(ProgressInterval::parse("0"), Catch::Contains("--progress '0'"));
}

TEST_CASE("columns line up with their header") {
  Metrics metrics;
  metrics.add(0.25f, -1, 1);
  metrics.add(0.5f, 1, 1);
  Progress progress;
  const std::string header = Progress::header();
  CHECK(header ==
        "average  since      example    example current current  current running running\n"
        "loss     last       counter     weight   label predict features     auc calibr.\n");
  CHECK(progress.line(2, metrics.snapshot(), 1, 0.5f, 40) ==
        "0.490415 0.490415         2        2.0  1.0000  0.5000       40  1.0000 0.7500\n");
  metrics.add(0.5f, -1, 2);
  CHECK(progress.line(4, metrics.snapshot(), 0, 0.5f, 3) ==
        "0.591781 0.693147         4        4.0 unknown  0.5000        3  0.6667 1.7500\n");
}

TEST_CASE("where the size is not known, rate and time stand there") {
  ProgressBar pipe;
  pipe.begin_pass(std::nullopt, 0);
  CHECK(pipe.due(0));
  CHECK(pipe.render(5000, 50000, 83, 79) == "50,000 examples, 602/s, 1:23");
  CHECK_FALSE(pipe.due(83.05));
  CHECK(pipe.render(5000, 50000, 83, 10) == "50,000 exa");
}

TEST_CASE("the line of what is held out has the same columns, and an h") {
  Metrics metrics;
  metrics.add(0.25f, -1, 1);
  metrics.add(0.5f, 1, 1);
  const std::string line = Progress::held_out_line(18, metrics.snapshot(), 2, true);
  CHECK(line ==
        "0.490415 best            18        2.0  pass 2    held        -  1.0000 0.7500 h\n");
  CHECK(line.size() == 81);  // of a terminal of 80 columns, and the end of the line
  CHECK(Progress::held_out_line(27, MetricsSnapshot{}, 3, false).substr(0, 18) ==
        "0.000000 -        ");
}

TEST_CASE("figures without a value print as a dash") {
  Metrics metrics;
  metrics.add(0.25f, -1, 1);
  Progress progress;
  CHECK(progress.line(1, metrics.snapshot(), -1, 0.25f, 2) ==
        "0.287682 0.287682         1        1.0 -1.0000  0.2500        2       -      -\n");
}

TEST_CASE("the bar shows share, rate and time left, and fits the terminal") {
  ProgressBar bar;
  bar.begin_pass(1000, 0);
  CHECK(bar.due(0));
  CHECK(bar.render(250, 50000, 10, 70) ==
        " 25 % [######...................] 50,000 examples, 5,000/s, 0:30 left");
  CHECK_FALSE(bar.due(10.05));
  CHECK(bar.due(10.2));
  CHECK(bar.render(2000, 1, 1, 200).substr(0, 5) == "100 %");
  for (int columns = 0; columns < 200; ++columns)
    CHECK(bar.render(500, 123456789, 3, columns).size() <= static_cast<std::size_t>(columns));
  ProgressBar empty;
  empty.begin_pass(0, 0);
  CHECK_NOTHROW(empty.render(0, 0, 0, 80));
}

TEST_CASE("the bar is one for all passes, and later passes last as long as this one") {
  ProgressBar bar(4);
  bar.begin_pass(1000, 0);
  // A quarter of the first pass took 10 s: 30 s are left of it, and three passes of 40 s.
  CHECK(bar.render(250, 100, 10, 70).substr(0, 5) == "  6 %");
  CHECK(bar.render(250, 100, 10, 70).find(", 2:30 left") != std::string::npos);
  // The second reads a cache of another size, four times as fast: 5 s and two passes of 10 s.
  bar.begin_pass(500, 40);
  CHECK(bar.render(250, 100, 45, 70).substr(0, 5) == " 38 %");
  CHECK(bar.render(250, 100, 45, 70).find(", 0:25 left") != std::string::npos);
}

TEST_CASE("a pass of unknown size counts, too") {
  ProgressBar bar(2);
  bar.begin_pass(0, 0);
  bar.begin_pass(1000, 10);
  CHECK(bar.render(500, 100, 15, 70).substr(0, 5) == " 75 %");
}

TEST_CASE("durations as people write them") {
  CHECK(format_duration(0) == "0:00");
  CHECK(format_duration(83) == "1:23");
  CHECK(format_duration(3725) == "1:02:05");
  CHECK(format_duration(183600) == "2d 3h");
  CHECK(format_duration(1e300) == "-:--");
  CHECK(format_duration(-1) == "0:00");
}

}  // namespace leveret::metrics
