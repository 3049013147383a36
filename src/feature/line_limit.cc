#include "feature/line_limit.h"

#include <algorithm>
#include <string>

namespace leveret::feature {
namespace {

/// Whether some namespace may be in two fields.
bool may_overlap(const std::vector<std::vector<std::string>>& fields) {
  std::vector<std::pair<std::string, std::size_t>> selectors;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (const std::string& selector : fields[f]) selectors.emplace_back(selector, f);
  }
  std::ranges::sort(selectors);
  // A letter stands before all that begin with it.
  std::pair<std::string, std::size_t> letter;
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    const auto& [text, field] = selectors[i];
    if (i > 0 && selectors[i - 1].first == text && selectors[i - 1].second != field) return true;
    if (!letter.first.empty() && text.starts_with(letter.first) && field != letter.second) {
      return true;
    }
    if (text.size() == 1) letter = selectors[i];
  }
  return false;
}

}  // namespace

bool LineLimit::needed(const FeatureOptions& options) {
  return !options.interactions.empty() || !options.transforms.empty() ||
         may_overlap(options.fields);
}

void LineLimit::operator()(const text::NamespaceNames& names, text::ExampleChunk& chunk) {
  std::vector<std::size_t> too_many;
  for (std::size_t i = 0; i < chunk.examples.size(); ++i) {
    if (exceeds(names, chunk, i)) too_many.push_back(i);
  }
  chunk.turn_bad(too_many, text::kTooManyFeatures);
}

bool LineLimit::exceeds(const text::NamespaceNames& names, const text::ExampleChunk& chunk,
                        std::size_t example) {
  features_.meet_for_count(names, chunk, example);
  return features_.count(chunk, chunk.examples[example], counts_) > text::kMaxFeatures;
}

}  // namespace leveret::feature
