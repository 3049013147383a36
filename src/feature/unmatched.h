/// Options about namespaces (--ignore, --keep, --linear, --field, --interactions, --context) that
/// met none in the data. The user is told, as a name with a typing error in it would only be a
/// worse model.
#pragma once

#include <string>
#include <vector>

#include "feature/feature_map.h"

namespace leveret::feature {

/// "--ignore price" for each selector that picks none of the namespaces, in the options' order.
std::vector<std::string> unmatched(const FeatureOptions& options,
                                   const std::vector<NamespacePlan>& plans);

/// Those of a list of selectors that pick none of the namespaces.
std::vector<std::string> unmatched_selectors(const std::vector<std::string>& selectors,
                                             const std::vector<NamespacePlan>& plans);

/// Namespaces that count, but that no --field lists; none without --field.
std::vector<std::string> beside_fields(const FeatureOptions& options,
                                       const std::vector<NamespacePlan>& plans);

}  // namespace leveret::feature
