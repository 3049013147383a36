#include "block/tower/dhen_layer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "block/bound.h"
#include "block/module/module_kinds.h"

namespace leveret::block {
namespace {

constexpr float kMostOfTokens = 1e6f;

}  // namespace

DhenLayer::DhenLayer(const ModulePlace& place, Plan plan)
    : place_(place), plan_(std::move(plan)), shortcut_(*place.kernels), norm_(*place.kernels) {
  for (const std::uint32_t number : plan_.modules) {
    ModulePlace of = place_;
    of.name += std::string(".") + kModuleKinds[number].word;
    modules_.push_back(kModuleKinds[number].make(of));
  }
}

Tokens DhenLayer::declare(const std::string& out, const Tokens& in, const tape::Extent& extent,
                          tape::Declarations& declarations) {
  in_ = in;
  made_.clear();
  for (const auto& module : modules_) made_.push_back(module->declare(in, extent, declarations));
  if (plan_.ensemble == Ensemble::kWeighted) {
    tape::LearnedArray w{.name = place_.name + ".ensemble",
                         .shape = {static_cast<std::uint64_t>(modules_.size())}};
    w.first = [](std::uint32_t, std::uint32_t) { return 1.0f; };
    weights_ = declarations.weights(std::move(w), place_.config->layers_rule);
  }
  const std::uint32_t tokens =
      place_.tokens *
      (plan_.ensemble == Ensemble::kConcat ? static_cast<std::uint32_t>(modules_.size()) : 1);
  if (plan_.shortcut && in.fixed != tokens) {
    skipped_ = shortcut_.declare(place_.name + ".shortcut", in, tokens, extent, *place_.config,
                                 declarations);
  }
  sums_ = {declarations.add(tape::Tensor{.name = plan_.norm ? place_.name + ".sums" : out,
                                         .size = tokens * in.width,
                                         .gradient = true}),
           in.width, tokens};
  out_ = plan_.norm ? norm_.declare(place_.name + ".norm", out, sums_, extent, *place_.config,
                                    declarations)
                    : sums_;
  return out_;
}

void DhenLayer::open(const tape::Parameters& parameters, tape::Tape& tape) const {
  for (const auto& module : modules_) module->open(parameters, tape);
  if (plan_.norm) norm_.open(parameters, tape);
  if (plan_.ensemble == Ensemble::kWeighted) tape.open_gradient(weights_, modules_.size());
}

void DhenLayer::forward(const Run& run) const {
  for (const auto& module : modules_) module->forward(run);
  float* const sums = run.tape[sums_.id].values;
  put_together(run, sums);
  const std::size_t count = run.tape.size * run.tape[sums_.id].stride;
  if (plan_.shortcut) {
    const bool mixes = in_.fixed != sums_.fixed;
    if (mixes) shortcut_.forward(run);
    place_.kernels->axpy(1.0f, run.tape[mixes ? skipped_.id : in_.id].values, count, sums);
  }
  bound(kMostOfTokens, sums, count);
  if (plan_.norm) norm_.forward(run);
}

/// Makes the ensemble of what the modules made.
void DhenLayer::put_together(const Run& run, float* sums) const {
  const std::size_t all = run.tape[sums_.id].stride;
  const std::size_t numbers = std::size_t{place_.tokens} * in_.width;
  std::fill_n(sums, run.tape.size * all, 0.0f);
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const float weight = plan_.ensemble == Ensemble::kWeighted ? run.parameters[weights_][i] : 1.0f;
    const std::size_t to = plan_.ensemble == Ensemble::kConcat ? i * numbers : 0;
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      place_.kernels->axpy(weight, run.tape[made_[i].id].at(b), numbers, sums + b * all + to);
    }
  }
}

void DhenLayer::backward(const Run& run, float* back) const {
  if (plan_.norm) norm_.backward(run);
  float* const d_sums = run.tape[sums_.id].gradient;
  const std::size_t count = run.tape.size * run.tape[sums_.id].stride;
  bound(kMostOfTokens, d_sums, count);
  hand_out(run, d_sums);
  float* const d_in = run.tape[in_.id].gradient;
  const std::size_t numbers = run.tape.size * run.tape[in_.id].stride;
  if (plan_.shortcut && in_.fixed != sums_.fixed) {
    const tape::TensorPlace& skipped = run.tape[skipped_.id];
    std::copy_n(d_sums, count, skipped.gradient);
    shortcut_.backward(run, d_in);
  } else if (plan_.shortcut) {
    std::copy_n(d_sums, count, d_in);
  } else {
    std::fill_n(d_in, numbers, 0.0f);
  }
  for (std::size_t i = modules_.size(); i-- > 0;) {
    modules_[i]->backward(run, back);
    place_.kernels->axpy(1.0f, back, numbers, d_in);
  }
  bound(kMostOfTokens, d_in, numbers);
}

/// The gradients of what the modules made, and of their weights.
void DhenLayer::hand_out(const Run& run, const float* d_sums) const {
  const bool weighted = plan_.ensemble == Ensemble::kWeighted;
  const std::size_t all = run.tape[sums_.id].stride;
  const std::size_t numbers = std::size_t{place_.tokens} * in_.width;
  if (weighted) std::fill_n(run.tape.gradient(weights_), modules_.size(), 0.0f);
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const float weight = weighted ? run.parameters[weights_][i] : 1.0f;
    const std::size_t from = plan_.ensemble == Ensemble::kConcat ? i * numbers : 0;
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      const float* const d = d_sums + b * all + from;
      place_.kernels->scale(d, numbers, weight, run.tape[made_[i].id].d_at(b));
      if (!weighted) continue;
      run.tape.gradient(weights_)[i] +=
          place_.kernels->dot(d, run.tape[made_[i].id].at(b), numbers);
    }
  }
  if (weighted && run.tape.sink != nullptr) {
    run.tape.sink->array(weights_, run.tape.gradient(weights_));
  }
}

}  // namespace leveret::block
