/// Messages of predict and evaluate about lines that are not like those that were learned.
#pragma once

#include <nlohmann/json.hpp>

#include "options/cli11_fwd.h"
#include "skew/skew.h"

namespace leveret::cli {

/// --strict.
void add_strict_option(CLI::App& verb, bool& strict);

/// One caller at a time. Counters of several threads, or of one model after the other, are told of
/// as one.
class SkewReport {
 public:
  /// `quiet`: no sentences.
  SkewReport(bool strict, bool quiet) : strict_(strict), quiet_(quiet) {}

  /// A sentence for what the counter has found.
  void tell(skew::SkewCounter& counter);
  /// The counter ends.
  void add(skew::SkewCounter& counter);

  /// An object; null where the model's file has nothing to hold lines against.
  nlohmann::ordered_json json() const;
  /// With --strict: std::runtime_error where something was remarkable. To be called when results
  /// are whole.
  void check() const;

 private:
  const bool strict_, quiet_;
  bool tells_ = false;
  skew::SkewTold told_;
  skew::SkewCounts counts_;
};

}  // namespace leveret::cli
