#include "predict/context_predictor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "feature/selector.h"
#include "model/look_ahead.h"
#include "predict/parts.h"

namespace leveret::predict {
namespace {

bool selected(const std::vector<std::string>& selectors, const std::string& name,
              const std::vector<feature::NamespacePlan>& plans) {
  return std::ranges::any_of(selectors, [&](const std::string& selector) {
    const bool exact =
        std::ranges::find(plans, selector, &feature::NamespacePlan::name) != plans.end();
    return feature::selects(selector, name, exact);
  });
}

/// A field is the context's when all of its namespaces are.
tape::FieldSplit split_fields(const model::Model& model,
                              const std::vector<std::string>& selectors) {
  const std::vector<feature::NamespacePlan>& plans = model.features().plans();
  const std::size_t fields = model.parameters().layout.fields;
  std::vector<bool> in_context(fields), in_candidates(fields);
  for (const feature::NamespacePlan& plan : plans) {
    std::vector<bool>& of = selected(selectors, plan.name, plans) ? in_context : in_candidates;
    for (const std::uint32_t field : plan.fields) of[field] = true;
  }
  for (std::size_t f = 0; f < fields; ++f) in_context[f] = in_context[f] && !in_candidates[f];
  return tape::FieldSplit(in_context);
}

/// Features of a context and of a candidate may make others together (such as are made of the
/// context's alone are rare enough to go with them).
std::string find_why_not(const model::Model& model, const net::Network& network) {
  const feature::FeatureOptions& options = model.spec().features;
  if (!options.interactions.empty() || !options.transforms.empty()) {
    return "interactions and transforms are made of whole lines";
  }
  const std::string block = network.why_not_in_contexts();
  return block.empty() ? block : "the model has " + block;
}

block::Config config_of(const model::Model& model) {
  block::Config config = model.config();
  config.in_contexts = true;
  return config;
}

/// Features without a field are in both partitions.
tape::Partition partition_of(tape::Partition::Of of, const tape::FieldSplit& split) {
  tape::Partition partition;
  partition.of = of;
  partition.split = &split;
  partition.shared = 1;
  const auto add = [&](const std::vector<std::uint32_t>& fields) {
    partition.homes.resize(split.place.size());
    for (const std::uint32_t f : fields) {
      partition.feature_groups.push_back(f + 1);
      partition.homes[f] = true;
    }
  };
  if (of == tape::Partition::Of::kContext) add(split.context);
  if (of == tape::Partition::Of::kCandidate) add(split.candidate);
  return partition;
}

/// Of features of fields, as they came: their number, and the sum of the squares of their values.
struct WholeSums {
  float features = 0, squares = 0;
};
WholeSums whole_sums(const feature::FeatureBatch& batch, std::size_t example) {
  WholeSums sums;
  for (const feature::FieldRun& run : batch.field_runs_of(example)) {
    sums.features += static_cast<float>(run.end - run.begin);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const float value = batch.field_features[i].value;
      sums.squares += value * value;
    }
  }
  return sums;
}

}  // namespace

ContextPredictor::ContextPredictor(std::shared_ptr<const model::Model> model,
                                   const text::NamespaceNames& names,
                                   const kernels::Kernels& kernels,
                                   std::vector<std::string> context)
    : model_(std::move(model)),
      names_(names),
      selectors_(std::move(context)),
      config_(config_of(*model_)),
      split_(split_fields(*model_, selectors_)),
      network_(config_, kernels),
      why_not_cached_(find_why_not(*model_, network_)),
      declared_(net::declare_sums(config_, model_->parameters().layout, 1)),
      context_(partition_of(tape::Partition::Of::kContext, split_)),
      candidate_(partition_of(tape::Partition::Of::kCandidate, split_)),
      of_context_(network_.share(model_->parameters(), context_)),
      of_candidates_(network_.share(model_->parameters(), candidate_)),
      of_everyone_(network_.share(model_->parameters(),
                                  partition_of(tape::Partition::Of::kEveryone, split_))),
      whole_(model_, names, kernels),
      features_(model_->features()),
      lines_seen_(*model_, names),
      context_lookup_(*model_),
      lookup_(*model_) {
  for (feature::FeatureBatch* batch : {&context_batch_, &batch_}) {
    batch->groups = model_->spec().uses_feature_groups();
    batch->chunks_stay = true;
  }
  context_batch_.keep_origins = true;
  context_lookup_.note_unknown(true);
  if (feature::LineLimit::needed(model_->spec().features)) {
    limit_.emplace(model_->spec().map_options(), model_->features().plans());
  }
  features_.meet_known(names_);
  sums_.resize(declared_.of_batch(0) + kTogether * declared_.of_example(0));
}

// ---- the context ----

bool ContextPredictor::is_context(std::uint32_t name) {
  if (name >= is_context_.size()) is_context_.resize(name + std::size_t{1}, -1);
  signed char& known = is_context_[name];
  if (known < 0) {
    known = selected(selectors_, std::string(names_.name(name)), model_->features().plans());
  }
  return known > 0;
}

void ContextPredictor::set_context(const text::ExampleChunk& chunk, std::size_t example) {
  set_context(chunk, example, own_);
}

void ContextPredictor::set_context(const text::ExampleChunk& chunk, std::size_t example,
                                   CachedContext& context) {
  at_ = &context;
  context.features.clear();
  append_whole(chunk, chunk.examples[example], context.features);
  start_context();
}

void ContextPredictor::use_context(CachedContext& context) {
  at_ = &context;
  ++counts_.requests;
}

void ContextPredictor::start_context() {
  ++counts_.requests;
  at_->cached = caches_contexts() && make_context();
}

void ContextPredictor::look_up(const feature::FeatureBatch& batch, tape::Tape& tape,
                               std::size_t example) {
  counts_.looked_up += batch.linear_end(example) - batch.linear_begin(example);
  (&tape == &tape_ ? lookup_ : context_lookup_).find(*model_, tape, example);
}

/// False where it has features of candidates' fields.
bool ContextPredictor::make_context() {
  const tape::Parameters& parameters = model_->parameters();
  context_batch_.clear();
  while (features_.map(at_->features, 0, 1, context_batch_) == 0) {
    features_.meet(names_, at_->features, 0, false);
  }
  tape::Tape& tape = context_tape_;
  context_lookup_.open(*model_, context_batch_, tape, model::Use::kPredict);
  network_.open(parameters, 1, tape);
  if (!is_all(true, tape, 0)) return false;
  note_shared_spaces();
  context_lookup_.prefetch(*model_, tape, 0);
  look_up(context_batch_, tape, 0);
  context_lookup_.resolve_values(*model_, tape, 0);
  lines_seen_.see(at_->features, at_->features.examples[0], context_batch_, 0, context_lookup_,
                  at_->seen);
  at_->feature_count = context_batch_.linear_end(0) - context_batch_.linear_begin(0);

  const WholeSums whole = whole_sums(context_batch_, 0);
  at_->field_features = whole.features;
  at_->squares = whole.squares;
  tape.wholes = {{&at_->field_features, 1}, {&at_->squares, 1}};
  at_->sums.assign(declared_.of_batch(0) + declared_.of_example(0), 0.0f);
  network_.partial(parameters, tape, context_, of_context_, sums_in(at_->sums));
  at_->parts = network_.cache_context(parameters, tape, of_context_);
  return true;
}

tape::BatchSums ContextPredictor::sums_in(std::vector<float>& sums) const {
  return {declared_, {sums.data()}, 0};
}

/// Counts are means over a namespace: where no field says that it is the context's, a candidate may
/// have more of it.
void ContextPredictor::note_shared_spaces() {
  at_->shared_spaces.clear();
  if (!config_.mixed) return;
  const auto runs = context_tape_.linear_runs(0);
  if (std::ranges::none_of(runs, [](const auto& run) { return run.group == 0; })) return;
  for (const text::NamespaceRun& space : at_->features.runs) {
    if (names_.name(space.name).starts_with('|')) continue;  // a number
    at_->shared_spaces.push_back(space.hash);
  }
  std::ranges::sort(at_->shared_spaces);
}

bool ContextPredictor::has_shared_space(const text::ExampleChunk& chunk,
                                        const text::Example& example) const {
  if (at_->shared_spaces.empty()) return false;
  const auto* const runs = chunk.runs.data();
  return std::any_of(runs + example.runs_begin, runs + example.runs_end, [&](const auto& run) {
    return std::ranges::binary_search(at_->shared_spaces, run.hash);
  });
}

bool ContextPredictor::has_same_context(const text::ExampleChunk& chunk,
                                        const text::Example& example) {
  const text::ExampleChunk& context = at_->features;
  if (context.examples.empty()) return false;
  return is_part(context, context.examples[0], chunk, example,
                 [&](std::uint32_t name) { return is_context(name); });
}

// ---- candidates ----

void ContextPredictor::predict(const text::ExampleChunk& chunk, std::size_t first,
                               std::size_t count, Outcomes& outcomes, skew::SkewCounter* skew) {
  predict(chunk, first, count, {}, {outcomes, skew});
}

void ContextPredictor::predict_lines(const text::ExampleChunk& chunk, std::size_t first,
                                     std::size_t count, Outcomes& outcomes,
                                     skew::SkewCounter* skew) {
  if (!caches_contexts()) {
    counts_.candidates += count;
    return predict_wholes(chunk, first, count, {&chunk, first}, {outcomes, skew});
  }
  std::size_t begin = first;
  parts_.clear();
  const auto flush = [&](std::size_t end) {
    predict(parts_, 0, parts_.examples.size(), {&chunk, begin}, {outcomes, skew});
    parts_.clear();
    begin = end;
  };
  for (std::size_t e = first; e < first + count; ++e) {
    const text::Example& example = chunk.examples[e];
    if (!has_same_context(chunk, example)) {
      flush(e);
      at_ = &own_;
      own_.features.clear();
      append_part(chunk, example, own_.features,
                  [&](std::uint32_t name) { return is_context(name); });
      start_context();
    }
    append_part(chunk, example, parts_, [&](std::uint32_t name) { return !is_context(name); });
  }
  flush(first + count);
}

void ContextPredictor::predict(const text::ExampleChunk& chunk, std::size_t first,
                               std::size_t count, const Wholes& wholes, const Results& results) {
  counts_.candidates += count;
  if (!at_->cached) return predict_wholes(chunk, first, count, wholes, results);
  const bool counts = results.skew != nullptr && results.skew->tells();
  batch_.keep_origins = counts;
  lookup_.note_unknown(counts);
  for (std::size_t next = first; next < first + count;) {
    batch_.clear();
    const std::size_t wanted = std::min(first + count - next, kWindow);
    const std::size_t mapped = features_.map(chunk, next, wanted, batch_);
    if (mapped < wanted) features_.meet(names_, chunk, next + mapped, false);
    const Wholes rest = {wholes.chunk, wholes.first + (next - first)};
    if (mapped > 0) predict_window(chunk, next, rest, results.outcomes);
    if (counts) count_skew(chunk, next, rest, *results.skew);
    next += mapped;
  }
}

/// All of the batch, as they have been looked up.
void ContextPredictor::count_skew(const text::ExampleChunk& chunk, std::size_t first,
                                  const Wholes& wholes, skew::SkewCounter& skew) {
  const bool in_lines = wholes.chunk != nullptr;
  const std::string_view text = in_lines ? wholes.chunk->bytes : chunk.bytes;
  const skew::SeenContext context = {at_->features, at_->seen,
                                     in_lines ? text : at_->features.bytes};
  skew.count(chunk, first, batch_, lookup_, text, &context);
}

/// As Predictor::predict_window.
void ContextPredictor::predict_window(const text::ExampleChunk& chunk, std::size_t first,
                                      const Wholes& wholes, Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  const text::ExampleChunk& source = wholes.chunk != nullptr ? *wholes.chunk : chunk;
  const std::size_t source_first = wholes.chunk != nullptr ? wholes.first : first;
  const std::uint32_t others = at_->feature_count + (model_->spec().constant ? 1 : 0);
  lookup_.open(*model_, batch_, tape_, model::Use::kPredict);
  network_.open(model_->parameters(), std::min(size, kTogether), tape_);
  network_.use_context(model_->parameters(), of_candidates_, at_->parts);
  tape_.wholes = {whole_features_, whole_squares_};
  const auto add_outcomes = [&] {
    for (std::size_t b = 0; b < tape_.size; ++b) {
      const std::size_t at = tape_.first + b;
      if (whole_ones_[b]) {
        predict_wholes(chunk, first + at, 1, {wholes.chunk, source_first + at},
                       {outcomes, nullptr});
        continue;
      }
      outcomes.add(source, source.examples[source_first + at]);
      outcomes.items.back().set_score(tape_.answers[b]);
      outcomes.items.back().features = others + batch_.linear_end(at) - batch_.linear_begin(at);
    }
  };
  model::look_ahead(
      model::LookAhead::kOne, size, [&](std::size_t e) { lookup_.prefetch(*model_, tape_, e); },
      [&](std::size_t e) { look_up(batch_, tape_, e); },
      [&](std::size_t e) {
        if (e % kTogether == 0) {
          tape_.first = e;
          tape_.size = std::min(kTogether, size - e);
          std::fill_n(sums_.begin(), declared_.of_batch(0), 0.0f);
        }
        lookup_.resolve_values(*model_, tape_, e - tape_.first);
        whole_ones_[e - tape_.first] = !is_all(false, tape_, e - tape_.first) ||
                                       has_shared_space(chunk, chunk.examples[first + e]);
        if (!whole_ones_[e - tape_.first]) forward(e - tape_.first);
        if (e + 1 < tape_.first + tape_.size) return;
        forward_together();
        add_outcomes();
      });
}

/// Whether example b has features of fields of the context, or not of it, alone, and of no field.
bool ContextPredictor::is_all(bool of_context, const tape::Tape& tape, std::size_t b) const {
  const auto fits = [&](std::uint32_t field) {
    return (split_.place[field] == tape::FieldSplit::kContext) == of_context;
  };
  return std::ranges::all_of(tape.field_runs(b),
                             [&](const feature::FieldRun& run) { return fits(run.field); }) &&
         std::ranges::all_of(tape.linear_runs(b), [&](const feature::LinearRun& run) {
           return run.group == 0 || fits(run.group - 1);
         });
}

void ContextPredictor::forward(std::size_t b) {
  const std::size_t of_example = declared_.of_example(0);
  std::fill_n(sums_.data() + declared_.of_batch(0) + b * of_example, of_example, 0.0f);
  const WholeSums whole = whole_sums(batch_, tape_.first + b);
  whole_features_[b] = at_->field_features + whole.features;
  whole_squares_[b] = at_->squares + whole.squares;
  network_.partial_example(model_->parameters(), tape_, candidate_, of_candidates_, b,
                           sums_in(sums_));
}

void ContextPredictor::forward_together() {
  const tape::Parameters& parameters = model_->parameters();
  network_.partial_batched(parameters, tape_, candidate_, of_candidates_, sums_in(sums_));
  add_context();
  network_.finish(parameters, tape_, of_everyone_, {declared_, {sums_.data()}, declared_.rounds()});
}

/// To the candidates' sums.
void ContextPredictor::add_context() {
  const std::size_t of_batch = declared_.of_batch(0), of_example = declared_.of_example(0);
  for (std::size_t i = 0; i < of_batch; ++i) sums_[i] += at_->sums[i];
  const float* const context = at_->sums.data() + of_batch;
  for (std::size_t b = 0; b < tape_.size; ++b) {
    float* const sums = sums_.data() + of_batch + b * of_example;
    for (std::size_t i = 0; i < of_example; ++i) sums[i] += context[i];
  }
}

void ContextPredictor::predict_wholes(const text::ExampleChunk& chunk, std::size_t first,
                                      std::size_t count, const Wholes& wholes,
                                      const Results& results) {
  Outcomes& outcomes = results.outcomes;
  counts_.uncached += count;
  if (wholes.chunk != nullptr) {
    return whole_.predict(*wholes.chunk, wholes.first, count, outcomes, results.skew);
  }
  for (std::size_t e = first; e < first + count; ++e) {
    const text::Example& candidate = chunk.examples[e];
    joined_.clear();
    const text::ExampleChunk& context = at_->features;
    if (!context.examples.empty()) append_whole(context, context.examples[0], joined_);
    append_whole(chunk, candidate, joined_);
    joined_.bytes = chunk.view(candidate.tag_begin, candidate.tag_size);
    text::Example& all = joined_.examples.back();
    all.runs_begin = 0;
    all.tag_begin = 0;
    const std::size_t last = joined_.examples.size() - 1;
    if (limit_ && limit_->exceeds(names_, joined_, last)) {
      ++counts_.too_large;
      if (results.skew != nullptr) results.skew->count(chunk, e, 1, &context);
      outcomes.add(joined_, all);
      outcomes.items.back().set_score(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    whole_.predict(joined_, last, 1, outcomes, results.skew, chunk.bytes);
  }
}

}  // namespace leveret::predict
