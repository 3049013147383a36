#include "drift.h"

#include <cmath>

#include "portable_math.h"

namespace leveret::synth {
namespace {

constexpr std::uint64_t kLastingValues = 1000;  ///< without a kind, ranks before this one stay
constexpr std::uint64_t kStillDraw = 1u << 20;  ///< the part of a weight that never changes

// Streams of hashes that must not meet.
constexpr std::uint64_t kPhaseStream = 5, kMovingStream = 6;

}  // namespace

Drift::Drift(const Options& options)
    : kind_(options.drift_kind),
      changes_(options.drift),
      strength_(options.drift_strength),
      period_(changes_ > 0 ? static_cast<std::uint64_t>(1e6 / changes_ + 0.5) : 0),
      pairs_{{0, 1}} {
  move_to(0);
}

void Drift::move_to(std::uint64_t row) {
  if (kind_ == DriftKind::kUnnamed) {
    time_ = changes_ * static_cast<double>(row) * 1e-6;
    auto epoch = static_cast<std::uint64_t>(time_);
    return blend(epoch, epoch + 1, time_ - static_cast<double>(epoch));
  }
  std::uint64_t epoch = row / period_;
  double step = static_cast<double>(row % period_) / static_cast<double>(period_);
  time_ = static_cast<double>(epoch) + step;
  switch (kind_) {
    case DriftKind::kUnnamed:
      break;
    case DriftKind::kSudden:
      return blend(epoch, epoch, 0);
    case DriftKind::kGradual:
      return blend(epoch, epoch + 1, step);
    case DriftKind::kRecurring:
      return blend(epoch % 2, epoch % 2, 0);
    case DriftKind::kVocabulary:
      return blend(0, 0, 0);
    case DriftKind::kMixed:  // a period stands still, the next one drifts
      return blend(epoch / 2, epoch / 2 + 1, epoch % 2 == 1 ? step : 0);
  }
}

/// The weights between two draws: at step 0 those of `from`, shortly before 1 nearly those of `to`.
void Drift::blend(std::uint64_t from, std::uint64_t to, double step) {
  bool part = kind_ != DriftKind::kUnnamed && kind_ != DriftKind::kVocabulary && strength_ < 1;
  double moving = part ? std::sqrt(strength_) : 1;
  double norm = moving / std::sqrt((1 - step) * (1 - step) + step * step);
  linear_.clear();
  if (part) linear_.push_back({kStillDraw, std::sqrt(1 - strength_)});
  linear_.push_back({from, step > 0 ? norm * (1 - step) : moving});
  if (step > 0) linear_.push_back({to, norm * step});
  if (kind_ != DriftKind::kUnnamed) pairs_ = linear_;
}

std::uint64_t Drift::generation(std::uint64_t field_seed, std::uint64_t rank) const {
  bool moving = kind_ == DriftKind::kUnnamed
                    ? changes_ > 0 && rank >= kLastingValues
                    : kind_ == DriftKind::kVocabulary &&
                          uniform(derive(field_seed ^ kMovingStream, rank)) < strength_;
  if (!moving) return 0;
  // Each value lives for one unit of time, then another takes its rank.
  double phase = uniform(derive(field_seed ^ kPhaseStream, rank));
  return static_cast<std::uint64_t>(time_ + phase);
}

}  // namespace leveret::synth
