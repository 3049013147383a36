/// Rows as text, in one of the output formats, appended to a buffer.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "planted_model.h"

namespace leveret::synth {

/// Field names: numeric A, B, … and categorical a, b, … while both fit the alphabet (as VW's
/// selectors by first letter like it), else and in csv I1, I2, … and C1, C2, ….
class RowWriter {
 public:
  explicit RowWriter(const Options& options);

  /// The header line of csv; nothing for the other formats.
  void header(std::string& out) const;
  void row(const PlantedModel& model, std::string& out) const;

 private:
  void vw_row(const PlantedModel& model, std::string& out) const;
  void table_row(const PlantedModel& model, char separator, std::string& out) const;

  Options options_;
  std::vector<std::string> names_;
};

/// A probability with six decimals and a newline.
void append_probability(double p, std::string& out);

}  // namespace leveret::synth
