#include "metrics/auc.h"

#include <algorithm>
#include <cmath>

#include "metrics/auc_area.h"

namespace leveret::metrics {
namespace {

constexpr std::uint64_t pack(float probability, bool positive, float weight) {
  // Without a negative zero, whose bits would sort above every p.
  const float p = probability > 0 ? probability : 0.0f;
  const float w = positive ? weight : -weight;
  return std::uint64_t{std::bit_cast<std::uint32_t>(p)} << 32 | std::bit_cast<std::uint32_t>(w);
}

float probability_of(std::uint64_t score) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(score >> 32));
}

float signed_weight_of(std::uint64_t score) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(score));
}

}  // namespace

void AucHistogram::merge(const AucHistogram& other) {
  for (const std::uint16_t index : other.touched_) {
    Bin& b = bin_at(index);
    const Bin& more = other.octaves_[index / kOctaveBins][index % kOctaveBins];
    if (b.positive == 0 && b.negative == 0) touched_.push_back(index);
    b.positive += more.positive;
    b.negative += more.negative;
  }
}

void AucHistogram::clear() {
  for (const std::uint16_t index : touched_) bin_at(index) = Bin{};
  touched_.clear();
}

AucValue AucHistogram::value() const {
  AucArea area;
  for (const std::vector<Bin>& octave : octaves_) {
    for (const Bin& b : octave) area.group(b.positive, b.negative);
  }
  return {area.auc(), area.tie_error()};
}

void AucList::add(float probability, bool positive, float weight) {
  if (collapsed_) {
    histogram_.add(probability, positive, weight);
    return;
  }
  scores_.push_back(pack(probability, positive, weight));
  if (scores_.size() > limit_) collapse();
}

void AucList::merge(const AucList& other) {
  histogram_.merge(other.histogram_);
  collapsed_ = collapsed_ || other.collapsed_;
  scores_.insert(scores_.end(), other.scores_.begin(), other.scores_.end());
  if (collapsed_ || scores_.size() > limit_) collapse();
}

void AucList::clear() {
  scores_.clear();
  histogram_.clear();
  collapsed_ = false;
}

void AucList::collapse() {
  for (const std::uint64_t score : scores_) {
    const float weight = signed_weight_of(score);
    histogram_.add(probability_of(score), weight > 0, std::fabs(weight));
  }
  std::vector<std::uint64_t>().swap(scores_);
  collapsed_ = true;
}

AucValue AucList::value() {
  if (collapsed_) return histogram_.value();
  std::sort(scores_.begin(), scores_.end());
  AucArea area;
  for (std::size_t i = 0; i < scores_.size();) {
    const float p = probability_of(scores_[i]);
    double positive = 0, negative = 0;
    for (; i < scores_.size() && probability_of(scores_[i]) == p; ++i) {
      const float weight = signed_weight_of(scores_[i]);
      (weight > 0 ? positive : negative) += std::fabs(weight);
    }
    area.group(positive, negative);
  }
  return {area.auc(), 0};
}

}  // namespace leveret::metrics
