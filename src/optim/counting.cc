#include "optim/counting.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "block/forgetting.h"
#include "block/mixer.h"

namespace leveret::optim {
namespace {

/// The largest values of the features that have their own.
void learn_values(table::Tables& tables, const tape::Tape& tape, std::size_t b) {
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const feature::FieldFeature& feature = tape.batch->field_features[i];
      if (!feature::has_own_largest(feature, tables.hashed() != nullptr)) continue;
      tables.field(run.field).learn_value(table::key_of(feature.hash), std::fabs(feature.value));
    }
  }
}

bool is_at_rest(const tape::TotalsDecl& totals, const tape::Parameters& parameters) {
  return totals.rests && parameters.layout.fields == 0;
}

}  // namespace

Counted counted_of(const tape::Tape& tape, std::size_t begin, std::size_t end) {
  Counted counted;
  for (std::size_t b = begin; b < end; ++b) {
    const bool wants_to_learn = tape.label(b) != 0.0f && tape.importance(b) > 0.0f;
    if (tape.learn[b]) ++counted.learned;
    if (wants_to_learn && !tape.learn[b]) ++counted.dropped;
  }
  return counted;
}

void add_totals(tape::Parameters& parameters, const tape::Tape& tape, std::size_t begin,
                std::size_t end) {
  for (const tape::TotalsDecl& totals : parameters.declared().totals) {
    double* const count = parameters.scalars.totals.data() + totals.count;
    double *const means = count + 1, *const squares = means + totals.size;
    if (is_at_rest(totals, parameters)) continue;
    for (std::size_t b = begin; b < end; ++b) {
      if (!tape.learn[b]) continue;
      *count += 1;
      const float* const of = tape[totals.numbers].at(b);
      for (std::size_t i = 0; i < totals.size; ++i) {
        const double from_mean = static_cast<double>(of[i]) - means[i];
        means[i] += from_mean / *count;
        squares[i] += from_mean * (static_cast<double>(of[i]) - means[i]);
      }
    }
  }
}

std::size_t total_floats(const tape::Parameters& parameters) {
  std::size_t floats = 0;
  for (const tape::TotalsDecl& totals : parameters.declared().totals) floats += 1 + 2 * totals.size;
  return floats;
}

void sum_totals(const tape::Parameters& parameters, const tape::Tape& tape, std::span<float> sums) {
  float* count = sums.data();
  for (const tape::TotalsDecl& totals : parameters.declared().totals) {
    const double* const known = parameters.scalars.totals.data() + totals.count + 1;
    float *const away = count + 1, *const squares = away + totals.size;
    for (std::size_t b = 0; b < tape.size && !is_at_rest(totals, parameters); ++b) {
      if (!tape.learn[b]) continue;
      *count += 1;
      const float* const of = tape[totals.numbers].at(b);
      for (std::size_t i = 0; i < totals.size; ++i) {
        const float from_mean = of[i] - static_cast<float>(known[i]);
        away[i] += from_mean;
        squares[i] += from_mean * from_mean;
      }
    }
    count = squares + totals.size;
  }
}

void take_totals(tape::Parameters& parameters, std::span<const float> sums) {
  const float* count = sums.data();
  for (const tape::TotalsDecl& totals : parameters.declared().totals) {
    double* const known = parameters.scalars.totals.data() + totals.count;
    double *const means = known + 1, *const squares = means + totals.size;
    const float *const away = count + 1, *const away_squares = away + totals.size;
    const double all = *known + double{*count};
    for (std::size_t i = 0; i < totals.size && all > 0; ++i) {
      const double sum = away[i];
      means[i] += sum / all;
      squares[i] += double{away_squares[i]} - sum * sum / all;
    }
    *known = all;
    count = away_squares + totals.size;
  }
}

void step_mixers(tape::Parameters& parameters, const tape::Tape& tape, const block::Config& config,
                 std::size_t begin, std::size_t end) {
  tape::Scalars& scalars = parameters.scalars;
  const std::span<const tape::MixerDecl> mixers = parameters.declared().mixers;
  if (mixers.empty()) return;
  const double share = block::forgotten_share(scalars, config);
  const float kept = static_cast<float>(1 - share);
  float* const values = scalars.mixers.data();
  for (std::size_t b = begin; b < end; ++b) {
    if (!tape.learn[b]) continue;
    const float label = tape.label(b);
    const float importance = tape.importance(b);
    for (const tape::MixerDecl& mixer : mixers) {
      block::Mixer(mixer.inputs.size())
          .apply(mixer.state(values), tape[mixer.heard].at(b), label, importance, kept);
    }
    scalars.forgotten += share;
  }
}

void count_features(table::Tables& tables, tape::Parameters& parameters, const tape::Tape& tape,
                    const block::Config& config, std::size_t begin, std::size_t end) {
  const feature::FeatureBatch& batch = *tape.batch;
  for (std::size_t b = begin; b < end; ++b) {
    if (!tape.learn[b]) continue;
    const float importance = tape.importance(b);
    const float clicks = tape.label(b) > 0 ? importance : 0.0f;
    parameters.scalars.clicks += clicks;
    parameters.scalars.count += importance;
    const float most = block::most_sights(parameters.scalars, config);
    for (const feature::LinearRun& run : tape.linear_runs(b)) {
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        const float size = std::fabs(batch.linear[i].value);
        table::MixedCell& cell = table::mixed(*tape.to_learn.cells[i]);
        if (tables.hashed() != nullptr) {
          float& largest = table::hashed(cell).largest_value;
          largest = std::max(largest, size);
        } else {
          tables.of_feature_group(run.group).raise_largest_value(*tape.to_learn.slots[i], size);
        }
        cell.clicks += clicks;
        cell.count += importance;
        if (cell.count > most) {
          cell.clicks *= most / cell.count;
          cell.count = most;
        }
      }
    }
    if (tables.is_part()) learn_values(tables, tape, b);
  }
}

}  // namespace leveret::optim
