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
block::FieldSplit split_fields(const model::Model& model,
                               const std::vector<std::string>& selectors) {
  const std::vector<feature::NamespacePlan>& plans = model.features().plans();
  const std::size_t fields = model.parameters().layout.fields;
  std::vector<bool> in_context(fields), in_candidates(fields);
  for (const feature::NamespacePlan& plan : plans) {
    std::vector<bool>& of = selected(selectors, plan.name, plans) ? in_context : in_candidates;
    for (const std::uint32_t field : plan.fields) of[field] = true;
  }
  for (std::size_t f = 0; f < fields; ++f) in_context[f] = in_context[f] && !in_candidates[f];
  return block::FieldSplit(in_context);
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

template <class B>
const B* block_that_works(const net::Network& network, const model::Model& model) {
  return model.parameters().layout.fields > 0 ? network.find<B>() : nullptr;
}

}  // namespace

ContextPredictor::ContextPredictor(std::shared_ptr<const model::Model> model,
                                   const text::NamespaceNames& names,
                                   const kernels::Kernels& kernels,
                                   std::vector<std::string> context)
    : model_(std::move(model)),
      names_(names),
      selectors_(std::move(context)),
      config_(model_->config()),
      split_(split_fields(*model_, selectors_)),
      network_(config_, kernels),
      why_not_kept_(find_why_not(*model_, network_)),
      linear_(*network_.find<block::LinearBlock>()),
      ffm_(block_that_works<block::FfmBlock>(network_, *model_)),
      fm_(block_that_works<block::FmBlock>(network_, *model_)),
      mlp_(block_that_works<block::MlpBlock>(network_, *model_)),
      loss_(*network_.find<block::LossBlock>()),
      whole_(model_, names, kernels),
      features_(model_->features()),
      context_lookup_(*model_),
      lookup_(*model_) {
  for (feature::FeatureBatch* batch : {&context_batch_, &batch_}) {
    batch->groups = model_->spec().uses_groups();
    batch->chunks_stay = true;
  }
  if (feature::LineLimit::needed(model_->spec().features)) {
    limit_.emplace(model_->spec().map_options(), model_->features().plans());
  }
  if (ffm_ != nullptr) ffm_context_.emplace(kernels, config_, split_, *ffm_);
  if (mlp_ != nullptr) layer_.emplace(kernels, model_->parameters(), split_, *mlp_);
  features_.meet_known(names_);
  // Without layers pairs are made there, all the same.
  stride_ = layer_ ? layer_->stride() : table::whole_lines(split_.pairs());
  inputs_.resize(kTogether * stride_ + kernels::Kernels::kSpare);
  norms_.resize(kTogether);
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
                                   KeptContext& kept) {
  at_ = &kept;
  kept.features.clear();
  append_whole(chunk, chunk.examples[example], kept.features);
  start_context();
}

void ContextPredictor::use_context(KeptContext& kept) {
  at_ = &kept;
  ++counts_.requests;
}

void ContextPredictor::start_context() {
  ++counts_.requests;
  at_->kept = keeps_contexts() && make_context();
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
  for (const feature::FieldRun& run : tape.field_runs(0)) {
    if (split_.place[run.field] != block::FieldSplit::kContext) return false;
  }
  note_shared_spaces();
  context_lookup_.prefetch(*model_, tape, 0);
  look_up(context_batch_, tape, 0);
  context_lookup_.resolve_values(*model_, tape, 0);
  at_->feature_count = context_batch_.linear_end(0) - context_batch_.linear_begin(0);

  const std::uint32_t groups = parameters.layout.groups();
  const block::LinearSums start = linear_.start(parameters, tape, 0);
  each_group_sum(
      [&](tape::TensorId id, std::vector<float>&) { std::fill_n(tape[id].at(0), groups, 0.0f); });
  at_->linear = linear_.add(tape, 0, start.of_nothing());
  at_->counts = 0;
  each_group_sum([&](tape::TensorId id, std::vector<float>& kept) {
    kept.assign(tape[id].at(0), tape[id].at(0) + groups);
  });
  for (std::uint32_t g = 1; config_.mixed && g < groups; ++g) {
    if (split_.place[g - 1] != block::FieldSplit::kContext) continue;
    at_->counts += parameters[linear_.group_weights()][g] * tape[linear_.group_counts()].values[g];
  }
  if (fm_ != nullptr) {
    at_->fm_sum.assign(fm_->sum_floats(), 0.0f);
    at_->fm_others = {};
    fm_->add(tape, 0, at_->fm_sum.data(), at_->fm_others);
  }
  if (ffm_ != nullptr) {
    ffm_->forward(parameters, tape, 0, 1);
    ffm_context_->keep(tape, 0, at_->ffm);
  }
  if (mlp_ != nullptr) layer_->keep(parameters, tape, 0, at_->layer);
  return true;
}

/// Counts are means over a namespace: where no field says that it is the context's, a candidate may
/// have more of it.
void ContextPredictor::note_shared_spaces() {
  at_->shared_spaces.clear();
  if (!config_.mixed) return;
  for (const feature::LinearRun& run : context_tape_.linear_runs(0)) {
    if (run.group > 0 && split_.place[run.group - 1] == block::FieldSplit::kContext) continue;
    for (const text::NamespaceRun& space : at_->features.runs)
      at_->shared_spaces.push_back(space.hash);
    std::ranges::sort(at_->shared_spaces);
    return;
  }
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
                               std::size_t count, Outcomes& outcomes) {
  predict(chunk, first, count, {}, outcomes);
}

void ContextPredictor::predict_lines(const text::ExampleChunk& chunk, std::size_t first,
                                     std::size_t count, Outcomes& outcomes) {
  if (!keeps_contexts()) {
    counts_.candidates += count;
    return predict_wholes(chunk, first, count, {&chunk, first}, outcomes);
  }
  std::size_t begin = first;
  parts_.clear();
  const auto flush = [&](std::size_t end) {
    predict(parts_, 0, parts_.examples.size(), {&chunk, begin}, outcomes);
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
                               std::size_t count, const Wholes& wholes, Outcomes& outcomes) {
  counts_.candidates += count;
  if (!at_->kept) return predict_wholes(chunk, first, count, wholes, outcomes);
  for (std::size_t next = first; next < first + count;) {
    batch_.clear();
    const std::size_t wanted = std::min(first + count - next, kWindow);
    const std::size_t mapped = features_.map(chunk, next, wanted, batch_);
    if (mapped < wanted) features_.meet(names_, chunk, next + mapped, false);
    if (mapped > 0) {
      predict_window(chunk, next, {wholes.chunk, wholes.first + (next - first)}, outcomes);
    }
    next += mapped;
  }
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
  const auto add_outcomes = [&] {
    for (std::size_t b = 0; b < tape_.size; ++b) {
      const std::size_t at = tape_.first + b;
      if (whole_ones_[b]) {
        predict_wholes(chunk, first + at, 1, {wholes.chunk, source_first + at}, outcomes);
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
        }
        lookup_.resolve_values(*model_, tape_, e - tape_.first);
        whole_ones_[e - tape_.first] =
            !is_candidate(e - tape_.first) || has_shared_space(chunk, chunk.examples[first + e]);
        if (!whole_ones_[e - tape_.first]) forward(e - tape_.first);
        if (e + 1 < tape_.first + tape_.size) return;
        forward_together();
        add_outcomes();
      });
}

/// Whether example b of the tape has features of candidates' fields only, and of no field.
bool ContextPredictor::is_candidate(std::size_t b) const {
  const std::uint32_t* const place = split_.place.data();
  for (const feature::FieldRun& run : tape_.field_runs(b)) {
    if (place[run.field] == block::FieldSplit::kContext) return false;
  }
  for (const feature::LinearRun& run : tape_.linear_runs(b)) {
    if (run.group > 0 && place[run.group - 1] == block::FieldSplit::kContext) return false;
  }
  return true;
}

void ContextPredictor::forward(std::size_t b) {
  const tape::Parameters& parameters = model_->parameters();
  const std::uint32_t groups = parameters.layout.groups();
  if (linear_.has_groups(tape_)) {
    each_group_sum([&](tape::TensorId id, const std::vector<float>& kept) {
      std::copy_n(kept.data(), groups, tape_[id].at(b));
    });
  }
  block::LinearSums sums = linear_.start(parameters, tape_, b);
  sums.add(at_->linear);
  sums = linear_.add(tape_, b, sums);
  float counts = tape_[linear_.base()].values[b] + at_->counts;
  for (std::size_t i = 0; config_.mixed && i < split_.groups(); ++i) {
    const std::uint32_t g = split_.group(i);
    counts += parameters[linear_.group_weights()][g] * tape_[linear_.group_counts()].at(b)[g];
  }
  linear_.finish(parameters, tape_, b, sums, counts);

  float* const inputs = inputs_.data() + b * stride_;
  if (ffm_ != nullptr) ffm_context_->forward(parameters, tape_, b, at_->ffm, inputs);
  if (fm_ != nullptr) {
    float* const sum = tape_[fm_->sums()].at(b);
    std::ranges::copy(at_->fm_sum, sum);
    block::FmBlock::Sums others = at_->fm_others;
    fm_->add(tape_, b, sum, others);
    fm_->finish(tape_, b, sum, others);
  }
  if (mlp_ == nullptr) return;
  layer_->put_inputs(tape_, b, inputs);
  norms_[b] = layer_->normalise(at_->layer, inputs);
}

void ContextPredictor::forward_together() {
  const tape::Parameters& parameters = model_->parameters();
  if (mlp_ != nullptr) {
    layer_->forward(at_->layer, inputs_.data(), norms_.data(), tape_.size,
                    tape_[mlp_->first()].values);
    mlp_->forward_rest(parameters, tape_, 0, tape_.size);
  }
  loss_.forward(parameters, tape_, 0, tape_.size);
}

void ContextPredictor::predict_wholes(const text::ExampleChunk& chunk, std::size_t first,
                                      std::size_t count, const Wholes& wholes, Outcomes& outcomes) {
  counts_.uncached += count;
  if (wholes.chunk != nullptr) return whole_.predict(*wholes.chunk, wholes.first, count, outcomes);
  for (std::size_t e = first; e < first + count; ++e) {
    const text::Example& candidate = chunk.examples[e];
    joined_.clear();
    const text::ExampleChunk& context = at_->features;
    if (!context.examples.empty()) append_whole(context, context.examples[0], joined_);
    append_whole(chunk, candidate, joined_);
    joined_.name_limit = std::max(context.name_limit, chunk.name_limit);
    joined_.bytes = chunk.view(candidate.tag_begin, candidate.tag_size);
    text::Example& all = joined_.examples.back();
    all.runs_begin = 0;
    all.tag_begin = 0;
    const std::size_t last = joined_.examples.size() - 1;
    if (limit_ && limit_->exceeds(names_, joined_, last)) {
      ++counts_.too_large;
      outcomes.add(joined_, all);
      outcomes.items.back().set_score(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    whole_.predict(joined_, last, 1, outcomes);
  }
}

}  // namespace leveret::predict
