#include "metrics/slices.h"

#include <algorithm>
#include <utility>

namespace leveret::metrics {

void Slices::add(std::string_view slice, const Scores::Answers& probabilities, float label,
                 float importance) {
  auto found = slices_.find(slice);
  if (found == slices_.end()) found = slices_.emplace(slice, empty_).first;
  found->second.add(probabilities, label, importance);
}

std::vector<Slice> Slices::largest(std::size_t most) && {
  std::vector<Slice> all;
  for (auto& [name, scores] : slices_) {
    if (scores.size() > 0) all.push_back({name, std::move(scores)});
  }
  std::ranges::sort(all, [](const Slice& a, const Slice& b) {
    return a.scores.size() != b.scores.size() ? a.scores.size() > b.scores.size() : a.name < b.name;
  });
  if (all.size() <= most) return all;
  Slice others{kOthers, empty_};
  for (std::size_t i = most; i < all.size(); ++i) others.scores.append(all[i].scores);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(most), all.end());
  all.push_back(std::move(others));
  return all;
}

}  // namespace leveret::metrics
