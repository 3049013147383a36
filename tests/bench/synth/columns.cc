#include "columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "portable_math.h"

namespace leveret::synth {
namespace {

// Streams of hashes that must not meet those of planted_model.cc and plants.cc.
constexpr std::uint64_t kTableRows = 31, kTableWorld = 32;

constexpr std::uint32_t kVocabulary[Columns::kCategories] = {3, 5, 8, 15, 30, 60};
constexpr const char* kPrefix[Columns::kCategories] = {"d", "os", "c", "site", "ad", "u"};
constexpr std::size_t kPairs[][2] = {{0, 2}, {1, 3}, {2, 4}, {3, 5}};
constexpr double kWaves[Columns::kNumbers] = {1.5, 2, 2.5};  ///< of a number's range
constexpr double kNumberWeight = 0.8, kCategoryWeight = 0.33, kPairWeight = 0.25;
constexpr double kMixedWeight = 0.55;

/// A period of 1, between -1 and 1, near a sine's (Bhaskara's formula; no library's sine is the
/// same everywhere).
double wave(double x) {
  x -= static_cast<double>(static_cast<std::int64_t>(x));
  const double t = x < 0.5 ? 2 * x : 2 * x - 1;
  const double arc = 4 * t * (1 - t);
  const double bump = 4 * arc / (5 - arc);
  return x < 0.5 ? bump : -bump;
}

/// Zipf-like: the first values come most often.
std::uint32_t value_of(double u, std::uint32_t vocabulary) {
  const double rank = portable_pow(1.0 + vocabulary, u) - 1;
  return std::min(static_cast<std::uint32_t>(rank), vocabulary - 1);
}

}  // namespace

Columns::Columns(std::uint64_t seed, double base_rate) : seed_(derive(seed, kTableWorld)) {
  // The bias by which the mean probability of some rows is the base rate.
  constexpr std::uint64_t kPilot = 4000;
  std::vector<double> logits;
  for (std::uint64_t i = 0; i < kPilot; ++i) {
    logits.push_back(logit(derive(derive(seed_, kTableRows), ~i)));
  }
  double low = -20, high = 20;
  for (int step = 0; step < 50; ++step) {
    bias_ = (low + high) / 2;
    double sum = 0;
    for (const double z : logits) sum += sigmoid(z + bias_);
    (sum < base_rate * kPilot ? low : high) = bias_;
  }
}

double Columns::logit(std::uint64_t key) {
  for (std::size_t i = 0; i < kNumbers; ++i) places_[i] = uniform(derive(key, i));
  // Of a normal number the place is nearly this.
  const double normal = bell(derive(key, 20));
  places_[1] = sigmoid(1.702 * normal);
  income_ = portable_exp(10 + 0.8 * normal);
  for (std::size_t c = 0; c < kCategories; ++c) {
    values_[c] = value_of(uniform(derive(key, 4 + c)), kVocabulary[c]);
  }
  double z = 0;
  std::array<double, kNumbers> waves{};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    waves[i] = wave(kWaves[i] * places_[i] + uniform(derive(seed_, i)));
    z += kNumberWeight * waves[i];
  }
  const auto weight = [&](std::uint64_t stream, std::size_t category) {
    return derive(derive(seed_, stream + 100 * category), values_[category]);
  };
  for (std::size_t c = 0; c < kCategories; ++c) z += kCategoryWeight * bell(weight(10, c));
  for (std::size_t p = 0; p < std::size(kPairs); ++p) {
    const std::uint64_t a = weight(1000 + p, kPairs[p][0]), b = weight(2000 + p, kPairs[p][1]);
    for (int k = 0; k < 4; ++k) z += kPairWeight * 3 * lane(a, k) * lane(b, k);
  }
  z += kMixedWeight * waves[1] * bell(weight(3000, 1));
  z += kMixedWeight * waves[2] * bell(weight(3001, 2));
  return z;
}

void Columns::draw(std::uint64_t row) {
  const std::uint64_t key = derive(derive(seed_, kTableRows), row);
  probability_ = sigmoid(logit(key) + bias_);
  clicked_ = uniform(derive(key, 30)) < probability_;
}

void Columns::append_row(std::string& out) const {
  const auto age = static_cast<unsigned>(18 + 72.99 * places_[0]);
  fmt::format_to(std::back_inserter(out), "{},{},{:.2f},{:.1f}", clicked_ ? 1 : 0, age, income_,
                 600 * places_[2]);
  for (std::size_t c = 0; c < kCategories; ++c) {
    fmt::format_to(std::back_inserter(out), ",{}{}", kPrefix[c], values_[c]);
  }
  out += '\n';
}

}  // namespace leveret::synth
