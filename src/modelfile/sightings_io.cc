#include "modelfile/sightings_io.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "modelfile/columns.h"
#include "modelfile/section_names.h"

namespace leveret::modelfile {
namespace {

using model::Seen;
using model::SightingCounts;
using Numbers = std::vector<std::uint64_t>;

constexpr const char* kExamples = "seen.examples";
constexpr std::size_t kNumbers = 4;  // of a namespace
constexpr const char* kNamespaces = "seen.namespaces";

/// Programs that do not know them predict the same.
store::Declaration declared_seen() {
  store::Declaration declaration = declared(store::Role::kStatistic);
  declaration.optional = true;
  return declaration;
}

store::SectionView section_of(const char* name, Shape shape, Numbers numbers) {
  const auto kept = std::make_shared<const Numbers>(std::move(numbers));
  return section_of_pieces(
      name, store::Dtype::kU64, std::move(shape), declared_seen(),
      kept->size() * sizeof(std::uint64_t),
      [kept] { return [kept] { return reinterpret_cast<const std::byte*>(kept->data()); }; });
}

Numbers read(SectionLoader& sections, const char* name, const Shape& shape) {
  Numbers numbers(*store::array_bytes(store::Dtype::kU64, shape) / sizeof(std::uint64_t));
  sections.numbers(sections.section(name, store::Dtype::kU64, shape, declared_seen()),
                   std::span(numbers));
  return numbers;
}

}  // namespace

void add_sightings(std::vector<store::SectionView>& sections, const model::Model& model) {
  SightingCounts counts = model.sightings().get();
  if (counts.taken == 0) return;
  counts.seen.resize(model.features().plans().size());
  sections.push_back(section_of(kExamples, {2}, {counts.taken, counts.examples}));
  Numbers numbers;
  for (const Seen& seen : counts.seen) {
    numbers.insert(numbers.end(), {seen.examples, seen.features, seen.fresh, seen.since});
  }
  sections.push_back(section_of(kNamespaces, {counts.seen.size(), kNumbers}, std::move(numbers)));
}

void load_sightings(const model::Model& model, SectionLoader& sections, bool lacks_features) {
  if (!sections.has(kExamples) && !sections.has(kNamespaces)) return;
  const std::size_t namespaces = model.features().plans().size();
  const Numbers examples = read(sections, kExamples, {2});
  const Numbers numbers = read(sections, kNamespaces, {namespaces, kNumbers});
  SightingCounts counts{examples[0], examples[1], {}};
  bool possible = counts.taken > 0 && counts.examples <= counts.taken;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbers) {
    counts.seen.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    const Seen& seen = counts.seen.back();
    possible &= seen.examples <= counts.examples && seen.fresh <= seen.features;
  }
  if (!possible) damaged("counts namespaces more often than examples");
  for (Seen& seen : counts.seen) {
    if (lacks_features) seen.features = seen.fresh = 0;
  }
  model.sightings().set(counts);
}

}  // namespace leveret::modelfile
