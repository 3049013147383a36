/// Pairs and triples of namespaces, hashed as VW hashes them (man/leveret-text.5, "HASHING").
#pragma once

#include <cstdint>

#include "feature/feature_batch.h"
#include "feature/feature_map.h"

namespace leveret::feature {

/// Appends the interaction features of the example with the runs out.run_order to out.linear.
/// `plan_of` maps the chunk's name ids to `plans`.
void append_interactions(const FeatureOptions& options, const std::vector<NamespacePlan>& plans,
                         const std::uint32_t* plan_of, const text::ExampleChunk& chunk,
                         FeatureBatch& out);

}  // namespace leveret::feature
