/// Lines that would become too many features: their interactions, what --transform makes of them,
/// and what comes in several fields counted.
#pragma once

#include <vector>

#include "feature/feature_map.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::feature {

/// One thread's, with the namespaces that it has met; copies are apart.
class LineLimit {
 public:
  /// `known`: the plans of a model that is there.
  LineLimit(FeatureOptions options, std::vector<NamespacePlan> known)
      : features_(std::move(options), std::move(known)) {}

  /// Whether with these options a line may become more features than it has. If not, what the
  /// parser counts is all.
  static bool needed(const FeatureOptions& options);

  /// The examples that have more than text::kMaxFeatures become bad lines.
  void operator()(const text::NamespaceNames& names, text::ExampleChunk& chunk);
  bool exceeds(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
               std::size_t example);

 private:
  FeatureMap features_;
  FeatureCounts counts_;
};

}  // namespace leveret::feature
