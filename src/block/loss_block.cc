#include "block/loss_block.h"

#include <algorithm>
#include <cmath>

#include "block/linear_block.h"
#include "block/logistic.h"
#include "block/mixer.h"
#include "text/example.h"

namespace leveret::block {
namespace {

using tape::HeadDecl;
using tape::HeadError;

std::vector<MixerInput> mixer_inputs(const std::vector<HeadDecl>& heads) {
  std::vector<MixerInput> inputs;
  for (const HeadError error : {HeadError::kNone, HeadError::kJoint, HeadError::kOwn}) {
    for (const HeadDecl& head : heads) {
      if (head.error != error || head.first_weight == HeadDecl::kNotMixed) continue;
      inputs.push_back({head.score, head.first_weight});
    }
  }
  return inputs;
}

}  // namespace

void LossBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  constexpr const char* kMixer = "second_mixer";
  joint_ = declarations.joint;
  own_.clear();
  for (const HeadDecl& head : declarations.heads) {
    if (head.error == HeadError::kOwn) own_.push_back({head.score, head.most_error});
  }
  const std::vector<MixerInput> inputs = mixer_inputs(declarations.heads);
  if (config_.mixed) {
    mixer_ = declare_mixer(kMixer, inputs, declarations);
    return;
  }
  // Files of one head have a mixer, too, that nothing moves, as if there were a first stage.
  std::vector<float> weights{LinearBlock::kFirstStageWeight};
  for (const MixerInput& input : inputs) weights.push_back(input.weight);
  declare_mixer_arrays(kMixer, weights, declarations);
}

void LossBlock::finish(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    run.tape.answers[b] = config_.mixed ? mix(run.parameters.scalars, mixer_, run.tape, b)
                                        : run.tape[joint_.back()].values[b];
  }
}

void LossBlock::finish_back(const Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) put_errors(run.tape, b);
}

void LossBlock::put_errors(tape::Tape& tape, std::size_t b) const {
  const float label = tape.label(b);
  const float importance = tape.importance(b);
  const bool learn = label != 0.0f && importance > 0.0f && importance <= text::kMaxImportance &&
                     std::isfinite(tape.answers[b]);
  tape.learn[b] = learn;
  const auto error_by = [&](tape::TensorId score) {
    return learn ? logistic_gradient(tape[score].values[b], label, importance) : 0.0f;
  };
  const float joint = error_by(joint_.back());
  for (const tape::TensorId head : joint_) tape[head].gradient[b] = joint;
  for (const Own& head : own_) {
    tape[head.score].gradient[b] =
        std::clamp(error_by(head.score), -head.most_error, head.most_error);
  }
}

}  // namespace leveret::block
