#include "feature/feature_batch.h"

namespace leveret::feature {

void FeatureBatch::clear() {
  label.clear();
  importance.clear();
  initial.clear();
  numbers.clear();
  linear.clear();
  linear_runs.clear();
  linear_runs_begin.assign(1, 0);
  runs.clear();
  runs_begin.assign(1, 0);
  field_features.clear();
  field_features_begin.assign(1, 0);
  lengths.clear();
  parents.clear();
  origins.clear();
  places.clear();
  if (!derived.chunk.examples.empty()) derived.chunk.clear();
}

}  // namespace leveret::feature
