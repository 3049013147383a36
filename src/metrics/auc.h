/// Area under the ROC curve, importance weighted: the probability that a random positive is scored
/// above a random negative, ties counting one half (Mann-Whitney).
///
/// Two ways to know it. AucHistogram takes 1 MiB at most and one step per example, and bounds its
/// own error; it serves progress lines and windows. AucList keeps every score and is exact; it
/// serves `evaluate`. Neither is thread safe: one per thread, then merge().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leveret::metrics {

struct AucValue {
  double auc;    ///< in [0, 1]; NaN when one of the classes has no weight
  double error;  ///< the true value lies in [auc - error, auc + error]; 0 when exact
};

/// Scores fall into 2^16 bins, finest at both ends, where click probabilities differ by factors
/// rather than by sums: below 1/2 a bin spans at most 0.1 % of p (ten bits of its mantissa), above
/// 1/2 at most 0.1 % of 1 - p. p below 2^-33 and above 1 - 2^-24 share the outermost bins. Only
/// pairs within one bin can be ordered wrongly: half their weight is the error bound.
class AucHistogram {
 public:
  static constexpr std::size_t kBins = 1u << 16;

  /// `probability` in [0, 1], `weight` > 0; neither NaN.
  void add(float probability, bool positive, double weight) {
    const std::uint32_t index = bin(probability);
    Bin& b = bin_at(index);
    if (b.positive == 0 && b.negative == 0) touched_.push_back(static_cast<std::uint16_t>(index));
    (positive ? b.positive : b.negative) += weight;
  }

  /// Both take time in the bins in use, at most one per example: cheap for a chunk's histogram.
  void merge(const AucHistogram& other);
  void clear();

  AucValue value() const;

  /// Monotone in p.
  static std::uint32_t bin(float probability) {
    return probability < 0.5f ? half_bin(probability) : kBins - 1 - half_bin(1.0f - probability);
  }

 private:
  struct Bin {
    double positive = 0;
    double negative = 0;
  };
  /// Bins come by octaves of p, or of 1 - p: a model's answers fill a dozen of the 64.
  static constexpr std::size_t kOctaveBins = 1024;
  Bin& bin_at(std::uint32_t index) {
    std::vector<Bin>& octave = octaves_[index / kOctaveBins];
    if (octave.empty()) octave.resize(kOctaveBins);
    return octave[index % kOctaveBins];
  }

  /// q in [0, 1/2] to 0..2^15-1: five bits of exponent (2^-33 .. 2^-2) and ten of mantissa.
  static std::uint32_t half_bin(float q) {
    constexpr std::uint32_t kLowest = (127u - 33u) << 10, kLast = kBins / 2 - 1;
    const std::uint32_t code = std::bit_cast<std::uint32_t>(q) >> 13;
    if (code <= kLowest) return 0;
    return code - kLowest < kLast ? code - kLowest : kLast;
  }

  std::array<std::vector<Bin>, kBins / kOctaveBins> octaves_;  ///< empty, or kOctaveBins
  std::vector<std::uint16_t> touched_;                         ///< each bin with weight, once
};

/// Exact for up to `limit` examples at 8 bytes each; past that they move into a histogram and
/// value().error says what this costs.
class AucList {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{32} << 20;  ///< 256 MiB

  explicit AucList(std::size_t limit = kDefaultLimit) : limit_(limit) {}

  /// `probability` in [0, 1], `weight` > 0; neither NaN. The weight is kept as a float.
  void add(float probability, bool positive, float weight);
  void merge(const AucList& other);
  void clear();

  /// Sorts what is kept (hence not const). Does not depend on the order of arrival.
  AucValue value();

 private:
  void collapse();

  std::size_t limit_;
  /// Bits of p above, bits of the weight below; the weight's sign is the label. Sorting these as
  /// integers sorts by p, since p >= 0.
  std::vector<std::uint64_t> scores_;
  AucHistogram histogram_;
  bool collapsed_ = false;
};

}  // namespace leveret::metrics
