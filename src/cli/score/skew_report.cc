#include "cli/score/skew_report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "cli/console.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

void add_strict_option(CLI::App& verb, bool& strict) {
  verb.add_flag("--strict", strict,
                "exit 1 where lines are not like those that were learned (SKEW)");
}

void SkewReport::tell(skew::SkewCounter& counter) {
  for (const skew::SkewFinding& finding : counter.take_findings()) {
    if (told_.add(finding) && !quiet_) say(stream::escaped("skew: " + skew::to_text(finding)));
  }
}

void SkewReport::add(skew::SkewCounter& counter) {
  counter.finish();
  tell(counter);
  tells_ |= counter.tells();
  counts_.add(counter.take_counts());
}

nlohmann::ordered_json SkewReport::json() const {
  if (!tells_) return nullptr;
  return {{"lines", counts_.lines},
          {"windows", counts_.windows},
          {"skewed_windows", counts_.skewed_windows},
          {"strange_namespaces", counts_.strange_namespaces},
          {"missing_namespaces", counts_.missing_namespaces},
          {"features", counts_.features},
          {"unknown_features", counts_.unknown_features}};
}

void SkewReport::check() const {
  if (!strict_ || counts_.skewed_windows == 0) return;
  throw std::runtime_error(
      fmt::format("--strict: {} of {} windows of lines are not like what the model has learned",
                  counts_.skewed_windows, counts_.windows));
}

}  // namespace leveret::cli
