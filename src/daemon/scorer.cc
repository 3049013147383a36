#include "daemon/scorer.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "kernels/dispatch.h"

namespace leveret::daemon {
namespace {

text::ParserOptions parser_options(const serve::Served& served, const ScorerOptions& options,
                                   bool shared_label) {
  text::ParserOptions parser = served.parser();
  parser.shared_label = shared_label;
  parser.max_line = options.max_line;
  return parser;
}

/// No two predictors of the process have the same.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct Scorer::ByContext {
  ByContext(const serve::Served& served, ContextCache& of, std::vector<std::string> context)
      : number(next_number()),
        cache(of),
        predictor(served.model(), served.names(), kernels::active(), std::move(context)) {}
  ~ByContext() { cache.forget(number); }
  ByContext(const ByContext&) = delete;
  ByContext& operator=(const ByContext&) = delete;

  const std::uint64_t number;
  ContextCache& cache;
  predict::ContextPredictor predictor;
  std::uint64_t used = 0;  ///< Scorer::uses_, the last time
};

class Scorer::Context {
 public:
  std::shared_ptr<const serve::Served> served;  ///< outlives the predictor
  std::shared_ptr<ByContext> by;
  std::shared_ptr<predict::CachedContext> cached;
};

Scorer::Scorer(std::shared_ptr<const serve::Served> served, const std::string& name,
               const ScorerOptions& options, ContextCache& cache, ModelCounts& counts)
    : served_(std::move(served)),
      name_(name),
      options_(options),
      cache_(cache),
      counts_(counts),
      parser_(served_->names(), parser_options(*served_, options, false)),
      shared_parser_(served_->names(), parser_options(*served_, options, true)),
      whole_(served_->model(), served_->names(), kernels::active()),
      skew_(served_->model(), served_->names()) {
  if (served_->is_nothing() || served_->model()->schema() == nullptr) return;
  rows_.emplace(served_->model()->schema()->get());
}

Scorer::~Scorer() = default;

void Scorer::parse(text::ExampleChunk& chunk, bool shared_label) {
  (shared_label ? shared_parser_ : parser_).parse(chunk);
  counts_.bad.add(chunk.bad.size());
  if (!served_->is_nothing()) count_unknown(chunk);
}

void Scorer::count_unknown(const text::ExampleChunk& chunk) {
  std::uint64_t unknown = 0;
  const std::uint32_t first = served_->names().shared(0);
  for (const text::NamespaceRun& run : chunk.runs) unknown += run.name >= first;
  if (unknown > 0) counts_.unknown_namespaces.add(unknown);
}

/// The findings of a window go to the counts when it ends.
void Scorer::tell_skew() {
  const skew::SkewCounts counts = skew_.take_counts();
  if (counts.windows == 0) return;
  counts_.skew_windows.add(counts.windows);
  counts_.skewed_windows.add(counts.skewed_windows);
  counts_.strange_namespaces.add(counts.strange_namespaces);
  counts_.missing_namespaces.add(counts.missing_namespaces);
  counts_.features.add(counts.features);
  counts_.unknown_features.add(counts.unknown_features);
  for (const skew::SkewFinding& finding : skew_.take_findings()) {
    if (options_.tell_skew) options_.tell_skew(name_, finding);
  }
}

std::shared_ptr<Scorer::ByContext> Scorer::predictor_for(const text::ExampleChunk& chunk,
                                                         const text::Example& example) {
  // Each set has a predictor of its own, so that an answer depends on its request alone. Strangers
  // may send as many sets as they like: the least used goes.
  constexpr std::size_t kMaxSets = 32;
  std::vector<std::uint32_t> ids;
  std::vector<std::string> names = options_.context;
  if (names.empty()) {
    for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
      if (chunk.runs[r].name < served_->names().shared(0)) ids.push_back(chunk.runs[r].name);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  if (const auto found = by_context_.find(ids); found != by_context_.end()) {
    found->second->used = ++uses_;
    return found->second;
  }
  if (by_context_.size() >= kMaxSets) {
    by_context_.erase(std::ranges::min_element(by_context_, {},
                                               [](const auto& set) { return set.second->used; }));
  }
  for (const std::uint32_t id : ids) names.emplace_back(served_->names().name(id));
  auto made = std::make_shared<ByContext>(*served_, cache_, std::move(names));
  made->used = ++uses_;
  by_context_[std::move(ids)] = made;
  return made;
}

std::shared_ptr<Scorer::Context> Scorer::context(const text::ExampleChunk& chunk,
                                                 std::size_t example) {
  auto context = std::make_shared<Context>();
  context->served = served_;
  context->by = predictor_for(chunk, chunk.examples[example]);
  ByContext& by = *context->by;
  context->cached = cache_.find(by.number, chunk, example);
  if (context->cached) {
    counts_.contexts_found.add();
    return context;
  }
  counts_.contexts_made.add();
  context->cached = std::make_shared<predict::CachedContext>();
  by.predictor.set_context(chunk, example, *context->cached);
  // One that is not cached is no more than the line.
  if (context->cached->cached) cache_.add(by.number, context->cached);
  return context;
}

std::size_t Scorer::context_cost(const Context& context) {
  constexpr std::size_t kBytesOfFeature = 4;  // with the space before it; most have more
  return context.cached->features.features.size() * kBytesOfFeature;
}

void Scorer::score(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                   Context* context, predict::Outcomes& outcomes) {
  if (!served_->is_nothing()) counts_.predictions.add(count);
  if (context == nullptr) {
    whole_.predict(chunk, first, count, outcomes, skew());
  } else {
    context->by->predictor.use_context(*context->cached);
    context->by->predictor.predict(chunk, first, count, outcomes, skew());
  }
  tell_skew();
}

}  // namespace leveret::daemon
