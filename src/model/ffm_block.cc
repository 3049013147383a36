#include "model/ffm_block.h"

#include <algorithm>
#include <cmath>

#include "model/logistic.h"

namespace leveret::model {
namespace {

/// Pairs of n rows in place.
std::size_t compact_pairs(std::size_t n) { return n > 0 ? n * (n - 1) / 2 : 0; }

std::size_t pair_index(std::size_t f, std::size_t g) { return g * (g + 1) / 2 + f; }

float instance_scale(const Tape& tape, std::size_t b) {
  float squares = 0, features = 0;
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    features += static_cast<float>(run.end - run.begin);
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      squares += tape.field_values[i] * tape.field_values[i];
    }
  }
  return std::sqrt(features) / std::max(squares, 1e-6f);
}

void resize_in_place(FfmTape& ffm, std::size_t rows) {
  ffm.present.resize(rows);
  ffm.fields.resize(rows);
  ffm.sums.resize(rows);
  ffm.x.resize(rows);
}

/// d loss / d pair by the FFM's own head.
float own_gradient(const Tape& tape, std::size_t b) {
  return tape.scores[b].d_ffm * tape.ffm_scale[b];
}

}  // namespace

void FfmBlock::forward(const Model& model, Tape& tape, std::size_t begin, std::size_t end) const {
  const std::size_t pairs = model.layout().pairs();
  for (std::size_t b = begin; b < end; ++b) {
    gather(model, tape, b, true);
    float* p = tape.pairs.data() + b * pairs;
    float sum = 0, squares = 0;
    if (!tape.ffm.in_place) {
      pairs_of(model, tape, p);
      kernels_->moments(p, pairs, &sum, &squares);
    } else {
      sum = pairs_in_place(model, tape);
      if (model.spec().has_mlp() || tape.keep_parts) place_pairs(tape, pairs, p);
    }
    tape.ffm_scale[b] = instance_scale(tape, b);
    Scores& scores = tape.scores[b];
    scores.ffm += tape.ffm_scale[b] * sum;
    if (model.spec().mixed()) scores.ffm = clamp_score(scores.ffm);
    scores.deep = scores.last = scores.ffm;
  }
}

/// False when some field has several rows.
bool FfmBlock::gather_in_place(Tape& tape, std::size_t b) const {
  FfmTape& ffm = tape.ffm;
  const std::span<const feature::FieldRun> runs = tape.field_runs(b);
  resize_in_place(ffm, runs.size());
  // Pointers of its own, so that the stores cannot be stores to the vectors'.
  float* const* const rows = tape.rows.data();
  const float* const values = tape.field_values.data();
  PresentField* const present = ffm.present.data();
  std::uint32_t* const fields = ffm.fields.data();
  const float** const sums = ffm.sums.data();
  float* const x = ffm.x.data();
  bool ones = true;
  std::uint32_t n = 0;
  for (const feature::FieldRun& run : runs) {
    std::uint32_t only = feature::kNoLinear;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (rows[i] == nullptr) continue;
      if (only != feature::kNoLinear) return false;
      only = i;
    }
    if (only == feature::kNoLinear) continue;
    present[n] = {run.field, only, only + 1, false};
    fields[n] = run.field;
    sums[n] = rows[only];
    x[n] = values[only];
    ones &= x[n] == 1.0f;
    ++n;
  }
  ffm.ones = ones;
  resize_in_place(ffm, n);
  return true;
}

void FfmBlock::gather(const Model& model, Tape& tape, std::size_t b, bool in_place) const {
  const std::size_t slots = model.fields().size();
  const std::size_t k = model.spec().ffm_k;
  const std::size_t length = slots * k;
  FfmTape& ffm = tape.ffm;
  const auto clear = [&] {
    ffm.present.clear();
    ffm.fields.clear();
    ffm.sums.clear();
    ffm.x.clear();
  };
  clear();
  ffm.in_place = in_place && gather_in_place(tape, b);
  if (ffm.in_place) return;
  clear();
  if (ffm.contra.size() < slots * length) {
    ffm.store.resize(slots * length);
    ffm.contra.resize(slots * length);
    ffm.delta.resize(slots * slots);
  }
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    std::uint32_t admitted = 0, last = 0;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      ++admitted;
      last = i;
    }
    if (admitted == 0) continue;
    const float* sum = tape.rows[last];
    if (admitted > 1 || tape.field_values[last] != 1.0f) {
      float* own = ffm.store.data() + ffm.present.size() * length;
      std::fill(own, own + length, 0.0f);
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        if (tape.rows[i] == nullptr) continue;
        kernels_->axpy(tape.field_values[i], tape.rows[i], length, own);
      }
      sum = own;
    }
    ffm.present.push_back({run.field, run.begin, run.end, admitted > 1});
    ffm.fields.push_back(run.field);
    ffm.sums.push_back(sum);
  }
  kernels_->transpose(ffm.sums.data(), ffm.fields.data(), ffm.fields.size(), slots, k,
                      ffm.contra.data());
}

/// The pairs of an example in place, to tape.ffm.compact, and their sum.
float FfmBlock::pairs_in_place(const Model& model, Tape& tape) const {
  FfmTape& ffm = tape.ffm;
  const std::size_t n = ffm.present.size();
  const std::size_t count = compact_pairs(n);
  if (ffm.compact.size() < count) ffm.compact.resize(2 * count);
  kernels_->ffm_pairs(ffm.sums.data(), ffm.fields.data(), n, model.spec().ffm_k,
                      ffm.compact.data());
  if (!ffm.ones) times_values(ffm);
  float sum = 0, squares = 0;
  kernels_->moments(ffm.compact.data(), count, &sum, &squares);
  return sum;
}

/// Multiplies compact pairs, or deltas, by the values of both features.
void FfmBlock::times_values(FfmTape& ffm) {
  float* row = ffm.compact.data();
  for (std::size_t i = 0; i < ffm.present.size(); row += i++) {
    for (std::size_t j = 0; j < i; ++j) row[j] *= ffm.x[i] * ffm.x[j];
  }
}

/// Compact pairs to their places among those of all fields, and zeros to the other places.
void FfmBlock::place_pairs(const Tape& tape, std::size_t count, float* pairs) {
  const std::uint32_t* const fields = tape.ffm.fields.data();
  const std::size_t n = tape.ffm.fields.size();
  if (pair_index(0, n) != count) std::fill(pairs, pairs + count, 0.0f);
  const float* from = tape.ffm.compact.data();
  for (std::size_t i = 0; i < n; from += i++) {
    float* const to = pairs + pair_index(0, fields[i]);
    for (std::size_t j = 0; j < i; ++j) to[fields[j]] = from[j];
    to[fields[i]] = 0.0f;
  }
}

void FfmBlock::pairs_of(const Model& model, const Tape& tape, float* pairs) const {
  const std::size_t slots = model.fields().size();
  const std::size_t k = model.spec().ffm_k;
  std::size_t done = 0;  // fields whose stretch of the triangle is written
  for (std::size_t i = 0; i < tape.ffm.present.size(); ++i) {
    const std::size_t g = tape.ffm.present[i].field;
    std::fill(pairs + pair_index(0, done), pairs + pair_index(0, g), 0.0f);
    kernels_->dots(tape.ffm.sums[i], tape.ffm.contra.data() + i * slots * k, g, k,
                   pairs + pair_index(0, g));
    pairs[pair_index(g, g)] = tape.ffm.present[i].several ? within(model, tape, i) : 0.0f;
    done = g + 1;
  }
  std::fill(pairs + pair_index(0, done), pairs + pair_index(0, slots), 0.0f);
}

float FfmBlock::within(const Model& model, const Tape& tape, std::size_t present) const {
  const PresentField& field = tape.ffm.present[present];
  const std::size_t k = model.spec().ffm_k;
  const float* sum = tape.ffm.sums[present] + field.field * k;
  float twice = kernels_->dot(sum, sum, k);
  for (std::uint32_t i = field.begin; i < field.end; ++i) {
    if (tape.rows[i] == nullptr) continue;
    const float* v = tape.rows[i] + field.field * k;
    twice -= tape.field_values[i] * tape.field_values[i] * kernels_->dot(v, v, k);
  }
  return 0.5f * twice;
}

void FfmBlock::backward(const Model& model, Tape& tape) const {
  const std::size_t pairs = model.layout().pairs();
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float own = own_gradient(tape, b);
    float* d = tape.d_pairs.data() + b * pairs;
    if (model.spec().has_mlp()) {
      for (std::size_t i = 0; i < pairs; ++i) d[i] += own;
    } else if (tape.size > 1 || !tape.ffm.in_place) {
      std::fill(d, d + pairs, own);
    }
  }
}

void FfmBlock::spread_in_place(const Model& model, Tape& tape, std::size_t b) const {
  FfmTape& ffm = tape.ffm;
  float* to = ffm.compact.data();
  if (!model.spec().has_mlp()) {
    std::fill(to, to + compact_pairs(ffm.present.size()), own_gradient(tape, b));
  } else {
    const float* d = tape.d_pairs.data() + b * model.layout().pairs();
    const std::uint32_t* const fields = ffm.fields.data();
    for (std::size_t i = 0; i < ffm.present.size(); to += i++) {
      const float* row = d + pair_index(0, fields[i]);
      for (std::size_t j = 0; j < i; ++j) to[j] = row[fields[j]];
    }
  }
  if (!ffm.ones) times_values(ffm);
}

void FfmBlock::spread(const Model& model, Tape& tape, std::size_t b) const {
  const std::size_t fields = model.fields().size();
  const float* d = tape.d_pairs.data() + b * model.layout().pairs();
  for (std::size_t i = 0; i < tape.ffm.present.size(); ++i) {
    const std::size_t g = tape.ffm.present[i].field;
    float* delta = tape.ffm.delta.data() + i * fields;
    std::copy_n(d + pair_index(0, g), g, delta);
    delta[g] = tape.ffm.present[i].several ? d[pair_index(g, g)] : 0.0f;
    for (std::size_t f = g + 1; f < fields; ++f) delta[f] = d[pair_index(g, f)];
  }
}

}  // namespace leveret::model
