// Codes of rows, against plain sums: what is kept of an older export, and what is rounded anew.
#include "modelfile/row_coder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace leveret::modelfile {
namespace {

/// How many numbers stayed old ones though they would have become others, and how many moved.
struct Seen {
  int kept = 0, moved = 0;
};

/// Rows of one seed: numbers that lie around those of an older export, some of them just within the
/// tolerance, some just beyond.
struct Rows {
  explicit Rows(unsigned seed) : random(seed) {
    constexpr float kTolerances[] = {0, 0.25f, 0.5f, 1, 3, 17.5f};
    rounding.tolerance = kTolerances[seed % std::size(kTolerances)];
    rounding.stochastic = draw(2) == 1;
    rounding.seed = seed;
    count = 1 + draw(40);
    old_count = draw(4) == 0 ? draw(60) : count;
  }
  std::size_t draw(std::size_t below) { return random() % below; }
  /// In codes: how far a number has gone since the older export.
  float distance() {
    const float tolerance = rounding.tolerance;
    const float distances[] = {
        0, tolerance * 0.96f, tolerance * 1.04f, 0.4f, 1.6f, static_cast<float>(draw(4000)) / 100};
    return distances[draw(std::size(distances))] * (draw(2) == 0 ? 1.0f : -1.0f);
  }
  bool near(double distance, std::size_t i) const {
    return rounding.tolerance > 0 && i < old_count && std::fabs(distance) < rounding.tolerance;
  }

  std::mt19937 random;
  Rounding rounding;
  std::size_t count, old_count;
};

void check_weights(unsigned seed, Seen& seen) {
  Rows rows(seed);
  const int largest = rows.draw(2) == 0 ? 127 : 32767;
  const float unit = std::ldexp(1.0f, static_cast<int>(rows.draw(20)) - 15);
  std::vector<std::int32_t> old(rows.old_count);
  for (std::int32_t& code : old) {
    code = static_cast<std::int32_t>(rows.draw(2 * largest + 1)) - largest;
  }
  std::vector<float> weights(rows.count);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = ((i < old.size() ? static_cast<float>(old[i]) : 5) + rows.distance()) * unit;
  }
  std::vector<std::int16_t> codes(rows.count);
  RowCoder(rows.rounding, "w").code(weights, 1 / unit, largest, old, seed, codes.data());
  const auto end = static_cast<float>(largest);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const float x = weights[i] / unit, within = std::clamp(x, -end, end);
    const float nearest = std::nearbyint(within);
    INFO("seed " << seed << ", weight " << i << ", " << x << " became " << codes[i]);
    if (i < old.size() && rows.near(x - static_cast<float>(old[i]), i)) {
      REQUIRE(codes[i] == old[i]);
      seen.kept += nearest != static_cast<float>(old[i]);
    } else if (rows.rounding.stochastic) {
      REQUIRE((codes[i] == std::floor(within) || codes[i] == std::ceil(within)));
    } else {
      REQUIRE(codes[i] == nearest);
      seen.moved += i < old.size() && codes[i] != old[i];
    }
  }
}

float count_of_units(const kernels::LogCode& by, double units) {
  return static_cast<float>(std::expm1(std::max(units, 0.0) * by.unit()));
}

void check_coded_counts(unsigned seed, Seen& seen) {
  Rows rows(seed);
  const kernels::LogCode by;
  std::vector<std::int32_t> old(rows.old_count);
  for (std::int32_t& code : old) code = static_cast<std::int32_t>(rows.draw(30000));
  std::vector<float> counts(rows.count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = count_of_units(by, (i < old.size() ? old[i] : 9000) + rows.distance());
  }
  std::vector<std::uint16_t> codes(rows.count);
  RowCoder(rows.rounding, "count").code(counts, by, old, codes.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    INFO("seed " << seed << ", count " << i << ", " << counts[i] << " became " << codes[i]);
    const std::uint16_t nearest = by.encode(counts[i]);
    const bool keeps = i < old.size() && rows.near(by.units(counts[i]) - old[i], i);
    REQUIRE(codes[i] == (keeps ? old[i] : nearest));
    seen.kept += keeps && nearest != old[i];
    seen.moved += i < old.size() && codes[i] != old[i];
  }
}

/// What is kept of `numbers`, which are `of(codes)`: keep_in(numbers, old), distance(now, old).
template <class Of, class Keep, class Distance>
void check_kept(unsigned seed, Seen& seen, Of of, Keep keep_in, Distance distance) {
  Rows rows(seed);
  std::vector<float> old(rows.old_count), numbers(rows.count);
  std::vector<double> codes(std::max(rows.count, rows.old_count));
  for (double& code : codes) code = static_cast<double>(rows.draw(30000));
  for (std::size_t i = 0; i < old.size(); ++i) old[i] = of(codes[i]);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = of(codes[i] + double{rows.distance()});
  }
  const std::vector<float> before = numbers;
  keep_in(RowCoder(rows.rounding, "kept"), std::span(numbers), std::span<const float>(old));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    INFO("seed " << seed << ", number " << i << ", " << before[i] << " became " << numbers[i]);
    const bool keeps = i < old.size() && rows.near(distance(before[i], old[i]), i);
    REQUIRE(numbers[i] == (keeps ? old[i] : before[i]));
    seen.kept += keeps && before[i] != old[i];
    seen.moved += i < old.size() && numbers[i] != old[i];
  }
}

void check_kept_floats(unsigned seed, Seen& seen) {
  const float unit = std::ldexp(1.0f, static_cast<int>(seed % 20) - 15);
  check_kept(
      seed, seen, [&](double code) { return static_cast<float>(code - 15000) * unit; },
      [&](const RowCoder& coder, std::span<float> numbers, std::span<const float> old) {
        coder.keep(numbers, unit, old);
      },
      [&](float now, float old) { return (now - old) / unit; });
}

void check_kept_counts(unsigned seed, Seen& seen) {
  const kernels::LogCode by;
  check_kept(
      seed, seen, [&](double code) { return count_of_units(by, code); },
      [&](const RowCoder& coder, std::span<float> numbers, std::span<const float> old) {
        coder.keep(numbers, by, old);
      },
      [&](float now, float old) { return by.units(now) - by.units(old); });
}

TEST_CASE("an old number stays while it is less than the tolerance away, of every kind of row") {
  constexpr unsigned kSeeds = 200;
  const auto check =
      GENERATE(check_weights, check_coded_counts, check_kept_floats, check_kept_counts);
  Seen seen;
  for (unsigned seed = 0; seed < kSeeds; ++seed) check(seed, seen);
  CHECK(seen.kept > 100);
  CHECK(seen.moved > 100);
}

TEST_CASE("codes of every width come back as they were stored") {
  std::mt19937 random(3);
  for (const store::Dtype dtype : {store::Dtype::kI16, store::Dtype::kI8, store::Dtype::kI4}) {
    const int largest = largest_code(dtype);
    for (const std::size_t count : {2, 4, 64, 130}) {
      std::vector<std::int16_t> codes(count);
      for (std::int16_t& code : codes) {
        code = static_cast<std::int16_t>(static_cast<int>(random() % (2 * largest + 1)) - largest);
      }
      codes[0] = static_cast<std::int16_t>(-largest);
      codes[1] = static_cast<std::int16_t>(largest);
      std::vector<std::byte> stored(count * store::dtype_bits(dtype) / 8);
      store_codes(dtype, codes, stored.data());
      std::vector<std::int32_t> loaded(count);
      load_codes(dtype, stored.data(), loaded);
      CHECK(std::ranges::equal(loaded, codes));
    }
  }
}

}  // namespace
}  // namespace leveret::modelfile
