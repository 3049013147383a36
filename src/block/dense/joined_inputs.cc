#include "block/dense/joined_inputs.h"

#include <algorithm>
#include <iterator>

#include "block/embedding_block.h"
#include "block/ffm_block.h"
#include "block/linear_block.h"

namespace leveret::block {

namespace {

std::vector<JoinInput> merged_inputs(const Config& config) {
  constexpr float kSeenScale = 0.3f;
  std::vector<JoinInput> inputs{{FfmBlock::kPairs, true, 1, FfmBlock::kPairsSum},
                                {LinearBlock::kGroupLinear, true, 1, LinearBlock::kScoreSum}};
  if (config.mixed) {
    inputs.push_back({LinearBlock::kGroupCounts});
    inputs.push_back({LinearBlock::kGroupSeen, false, kSeenScale});
    inputs.push_back({std::string("heads.") + LinearBlock::kFirst});
  }
  return inputs;
}

}  // namespace

std::vector<JoinInput> joined_inputs(const Config& config, const std::vector<std::string>& inputs) {
  std::vector<JoinInput> all;
  for (const std::string& input : inputs) {
    if (input == kMergedInputs) {
      std::ranges::move(merged_inputs(config), std::back_inserter(all));
    } else {
      all.push_back({input == kEmbeddings ? EmbeddingBlock::kOwnFields : input});
    }
  }
  std::ranges::stable_partition(all, &JoinInput::normalised);
  return all;
}

}  // namespace leveret::block
