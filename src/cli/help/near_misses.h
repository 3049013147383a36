/// What a word was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leveret::cli {

/// The one of `known` that `typed` was probably meant to be; empty when none is near. Distances are
/// in edits of a letter, swaps of neighbours counted as one.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// The verb that somebody who knows other programs means, or the nearest of `verbs`; empty: none.
std::string verb_meant(std::string_view typed, const std::vector<std::string>& verbs);

/// The first of the words that is the file of a model or of an export; empty: none is.
std::string model_among(const std::vector<std::string>& words);

}  // namespace leveret::cli
