#include "reference_model.h"

#include <algorithm>
#include <cmath>

#include "random_model.h"

namespace leveret::model {
namespace {

constexpr double kMax = 15;  // logistic.h

double clamped(double z) { return std::clamp(z, -kMax, kMax); }
double probability(double z) { return 1 / (1 + std::exp(-z)); }
double log_odds(double p) { return std::log(p / (1 - p)); }

/// mixer.h: the probability mixture of all scores and of their weighted sum.
double mixed(const ReferenceModel::MixerWeights& state, std::vector<double> scores) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += state.weight[i] * scores[i];
  scores.push_back(clamped(sum));
  double shares = 0, p = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    shares += std::exp(static_cast<double>(state.log_share[i]));
    p += std::exp(static_cast<double>(state.log_share[i])) * probability(scores[i]);
  }
  return clamped(log_odds(std::clamp(p / shares, 1e-7, 1 - 1e-7)));
}

bool is_over_embeddings(const Spec& spec, const std::string& tower) {
  return std::ranges::any_of(spec.more_towers, [&](const spec::TowerSpec& of) {
    return of.name == tower && of.reads(spec::TowerSpec::kEmbeddings);
  });
}

}  // namespace

double reference_loss(double z, double label) { return std::log1p(std::exp(-label * z)); }

ReferenceModel::CellName ReferenceModel::name(std::uint32_t group, std::uint32_t hash) const {
  if (spec.bit_precision > 0) return {0, hash & ((1u << spec.bit_precision) - 1)};
  return {spec.has_rows() ? group : 0, hash};
}

ReferenceModel::ReferenceModel(const Model& model, const feature::FeatureBatch& batch)
    : spec(model.spec()), fields(model.features().field_count()), rows(fields) {
  copy_cells(model, batch);
  if (spec.has_rows()) copy_rows(model, batch);
  const Parameters& parameters = model.parameters();
  const std::vector<tape::LayerArrays>& declared = parameters.declared().layers;
  for (const tape::ConstDense& dense : parameters.layers()) {
    Layer layer;
    const tape::LayerArrays& of = declared[layers.size()];
    layer.name = parameters.declared()[of.weights].name;
    layer.name.erase(layer.name.rfind('.'));
    layer.tower = layer.name.substr(0, layer.name.find('.'));
    for (std::uint32_t o = 0; o < dense.outputs; ++o) {
      const auto row = dense.weights.begin() + o * dense.stride();
      layer.weights.emplace_back(row, row + dense.inputs);
    }
    layer.bias.assign(dense.bias.begin(), dense.bias.end());
    layers.push_back(std::move(layer));
  }
  for (const tape::ArrayId id : parameters.declared().weights_beside_layers()) {
    const std::span<const float> values = parameters[id];
    arrays[parameters.declared()[id].name].assign(values.begin(), values.end());
  }
  if (spec.mixed()) group_weights = arrays.extract("groups.weight").mapped();
  const tape::Scalars& scalars = parameters.scalars;
  bias = scalars.bias;
  bias2 = scalars.bias2;
  fast_bias = scalars.fast_bias;
  clicks = scalars.clicks;
  count = scalars.count;
  for (const tape::TotalsDecl& of : parameters.declared().totals) {
    const auto begin = scalars.totals.begin() + static_cast<std::ptrdiff_t>(of.count);
    const auto size = static_cast<std::ptrdiff_t>(1 + 2 * of.size);
    if (of.name == "numbers") totals.assign(begin, begin + size);
  }
  const auto mixer_of = [&](const std::string& name) {
    Parameters copy = parameters;
    const auto copy_of = [&](const char* what) {
      const std::span<const float> values = array_of(copy, name + what);
      return std::vector<float>(values.begin(), values.end());
    };
    return MixerWeights{copy_of(".weight"), copy_of(".log_share")};
  };
  first_mixer = mixer_of("first_mixer");
  second_mixer = mixer_of("second_mixer");
}

void ReferenceModel::copy_cells(const Model& model, const feature::FeatureBatch& batch) {
  for (const feature::LinearRun& run : batch.linear_runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t hash = batch.linear[i].hash;
      Cell& to = cells[name(run.group, hash)];
      const table::Cell* const cell = model.tables().find_cell(run.group, hash);
      if (cell == nullptr) continue;
      to.weight = cell->weight;
      if (!spec.mixed()) continue;
      const table::MixedCell& both = table::mixed(*cell);
      to.weight2 = both.weight2;
      to.fast = both.fast;
      to.clicks = both.clicks;
      to.count = both.count;
      to.largest_value = model.tables().largest_value(run.group, hash);
    }
  }
}

void ReferenceModel::copy_rows(const Model& model, const feature::FeatureBatch& batch) {
  for (const feature::FieldRun& run : batch.runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t hash = batch.field_features[i].hash;
      const table::Row row = find_row(model, run.field, hash);
      if (row == table::kNoRow) continue;
      const std::vector<float> w = weights_of(model.tables().field(run.field).rows(), row);
      rows[run.field][hash].assign(w.begin(), w.end());
    }
  }
}

ReferenceModel::Values ReferenceModel::values(const feature::FeatureBatch& batch) const {
  Values x;
  x.linear.resize(batch.linear.size());
  for (const feature::LinearRun& run : batch.linear_runs) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const feature::Feature& f = batch.linear[i];
      const double largest = cells.at(name(run.group, f.hash)).largest_value;
      const double value = f.value;
      x.linear[i] = spec.mixed() ? value / std::max(largest, std::fabs(value)) : value;
    }
  }
  for (const feature::FieldFeature& f : batch.field_features) {
    x.field.push_back(f.linear == feature::kNoLinear ? f.value : x.linear[f.linear]);
  }
  return x;
}

/// linear_block.h, spec::Heads::kOne.
void ReferenceModel::linear_one(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                                ReferenceScores& s) const {
  s.base = batch.initial[b] + (spec.constant ? bias : 0);
  s.linear = s.base;
  for (std::uint32_t r = batch.linear_runs_begin[b]; r < batch.linear_runs_begin[b + 1]; ++r) {
    const feature::LinearRun& run = batch.linear_runs[r];
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const double product = cells.at(name(run.group, batch.linear[i].hash)).weight * x.linear[i];
      s.group_linear[run.group] += product;
      s.linear += product;
    }
  }
  s.first = s.linear;
}

/// linear_block.h, spec::Heads::kMixed.
void ReferenceModel::linear_mixed(const feature::FeatureBatch& batch, std::size_t b,
                                  const Values& x, ReferenceScores& s) const {
  constexpr double kPrior = 4;
  const double rate = clicks / count;
  s.base = log_odds(rate) + batch.initial[b];
  s.linear = s.base + (spec.constant ? bias : 0);
  double sum2 = spec.constant ? bias2 : 0;
  s.fast = s.base + (spec.constant ? fast_bias : 0);
  for (std::uint32_t r = batch.linear_runs_begin[b]; r < batch.linear_runs_begin[b + 1]; ++r) {
    const feature::LinearRun& run = batch.linear_runs[r];
    const double length = run.end - run.begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const Cell& cell = cells.at(name(run.group, batch.linear[i].hash));
      s.group_linear[run.group] += cell.weight * x.linear[i];
      s.linear += cell.weight * x.linear[i];
      sum2 += cell.weight2 * x.linear[i];
      s.fast += cell.fast * x.linear[i];
      s.squares += x.linear[i] * x.linear[i];
      if (cell.count == 0) continue;
      const double others = std::max<double>(cell.count - cell.clicks, 0) + kPrior * (1 - rate);
      const double odds = (cell.clicks + kPrior * rate) / others;
      s.group_counts[run.group] += (std::log(odds) - log_odds(rate)) / length;
      s.group_seen[run.group] += std::log(1 + cell.count) / length;
    }
  }
  s.counts = s.base;
  for (std::size_t g = 0; g <= fields; ++g) s.counts += group_weights[g] * s.group_counts[g];
  s.counts = clamped(s.counts);
  s.linear = clamped(s.linear);
  s.linear2 = clamped(s.counts + sum2);
  s.fast = clamped(s.fast);
  std::vector<double> heads{s.linear, s.counts};
  if (spec.fast_head) heads.push_back(s.fast);
  s.first = mixed(first_mixer, heads);
}

std::vector<ReferenceModel::Part> ReferenceModel::parts_of(const feature::FeatureBatch& batch,
                                                           std::size_t b, const Values& x,
                                                           double& scale) const {
  std::vector<Part> parts;
  double squares = 0, count = 0;
  for (std::uint32_t r = batch.runs_begin[b]; r < batch.runs_begin[b + 1]; ++r) {
    const feature::FieldRun& run = batch.runs[r];
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      ++count;
      squares += x.field[i] * x.field[i];
      const auto row = rows[run.field].find(batch.field_features[i].hash);
      if (row != rows[run.field].end()) parts.push_back({run.field, x.field[i], &row->second});
    }
  }
  scale = std::sqrt(count) / std::max(squares, 1e-6);
  return parts;
}

/// ffm_block.h, by the pairs of features instead of its sums.
void ReferenceModel::ffm(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                         ReferenceScores& s) const {
  const std::vector<Part> parts = parts_of(batch, b, x, s.ffm_scale);
  s.pairs.assign(fields * (fields + 1) / 2, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const std::uint32_t f = parts[i].field, g = parts[j].field;  // f <= g: runs ascend
      double dot = 0;
      for (std::uint32_t c = 0; c < spec.ffm_k; ++c) {
        dot += (*parts[i].row)[g * spec.ffm_k + c] * (*parts[j].row)[f * spec.ffm_k + c];
      }
      s.pairs[g * (g + 1) / 2 + f] += parts[i].x * parts[j].x * dot;
    }
  }
  double sum = 0;
  for (const double p : s.pairs) sum += p;
  s.ffm += s.ffm_scale * sum;
  if (spec.mixed()) s.ffm = clamped(s.ffm);
}

/// numbers_block.h.
void ReferenceModel::numbers(const feature::FeatureBatch& batch, std::size_t b,
                             ReferenceScores& s) const {
  const std::size_t count = spec.features.numeric.size();
  std::vector<double> u;
  for (std::size_t i = 0; i < count; ++i) u.push_back(batch.numbers.at(b * count + i));
  for (std::size_t i = 0; i < count; ++i) {
    u.push_back((u[i] < 0 ? -1 : 1) * std::log(1 + std::fabs(u[i])));
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double variance = totals[1 + u.size() + i] / totals[0];
    const double z = variance > 0 ? (u[i] - totals[1 + i]) / std::sqrt(variance) : 0;
    s.numbers.push_back(std::clamp(z, -5.0, 5.0));
  }
}

/// joined_dense.h.
void ReferenceModel::merge_norm(ReferenceScores& s) const {
  std::vector<double> x = s.pairs;
  x.insert(x.end(), s.group_linear.begin(), s.group_linear.end());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  for (double& v : x) v = (v - mean) / std::sqrt(variance + 0.01);
  if (spec.mixed()) {
    x.insert(x.end(), s.group_counts.begin(), s.group_counts.end());
    for (const double seen : s.group_seen) x.push_back(0.3 * seen);
    x.push_back(s.first);
  }
  s.inputs = std::move(x);
}

/// mlp_block.h.
void ReferenceModel::mlp(ReferenceScores& s) const {
  std::vector<double> in;
  s.mlp = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (is_over_embeddings(spec, layers[l].tower)) continue;
    if (l == 0 || layers[l - 1].tower != layers[l].tower) {
      const std::vector<spec::TowerSpec> all = spec.towers();
      in = inputs_of(*std::ranges::find(all, layers[l].tower, &spec::TowerSpec::name), s);
    }
    const bool ends = l + 1 == layers.size() || layers[l + 1].tower != layers[l].tower;
    std::vector<double> out = layers[l].bias;
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < in.size(); ++i) out[o] += layers[l].weights[o][i] * in[i];
      if (ends) continue;
      s.nearest_kink = std::min(s.nearest_kink, std::fabs(out[o]));
      out[o] = std::max(out[o], 0.0);
    }
    if (ends) s.mlp += out.at(0);
    in = out;
  }
}

bool ReferenceModel::has_mlp() const {
  return std::ranges::any_of(
      layers, [&](const Layer& layer) { return !is_over_embeddings(spec, layer.tower); });
}

/// The score with what a block adds becomes a head of its own.
void ReferenceModel::join(double score, ReferenceScores& s) const {
  score += s.joint.back();
  s.joint.push_back(spec.mixed() ? clamped(score) : score);
}

ReferenceScores ReferenceModel::forward(const feature::FeatureBatch& batch, std::size_t b) const {
  const Values x = values(batch);
  ReferenceScores s;
  s.group_linear.assign(fields + 1, 0);
  s.group_counts.assign(fields + 1, 0);
  s.group_seen.assign(fields + 1, 0);
  spec.mixed() ? linear_mixed(batch, b, x, s) : linear_one(batch, b, x, s);
  s.ffm = spec.mixed() ? s.linear2 : s.linear;
  if (spec.has_ffm()) ffm(batch, b, x, s);
  s.joint = {s.ffm};
  if (!spec.features.numeric.empty()) numbers(batch, b, s);
  if (spec.has_embeddings()) embeddings(batch, b, x, s);
  towers(false, s);
  if (spec.merges()) merge_norm(s);
  mlp(s);
  if (has_mlp()) join(s.mlp, s);
  towers(true, s);
  s.last = s.deep = s.joint.back();
  if (spec.mixed()) {
    std::vector<double> heads{s.first};
    heads.insert(heads.end(), s.joint.begin(), s.joint.end());
    if (spec.fast_head) heads.push_back(s.fast);
    for (const double score : s.own) heads.push_back(clamped(s.first + score));
    s.last = mixed(second_mixer, heads);
  }
  return s;
}

double ReferenceModel::objective(const feature::FeatureBatch& batch, std::size_t b,
                                 const ReferenceScores& frozen) const {
  const double label = batch.label[b];
  const double importance = batch.importance[b];
  ReferenceScores s = forward(batch, b);
  if (!spec.mixed()) return importance * reference_loss(s.last, label);
  const double loss = reference_loss(s.linear, label) + reference_loss(s.counts, label);
  s.group_linear = frozen.group_linear;
  s.group_counts = frozen.group_counts;
  s.group_seen = frozen.group_seen;
  s.first = frozen.first;
  if (spec.merges()) merge_norm(s);
  mlp(s);
  s.towers = 0;
  s.own.clear();
  for (const bool have_layers : {false, true}) towers(have_layers, s);
  const double joint = s.ffm + s.towers + s.mlp - s.counts + frozen.counts;
  double fast = 0;
  if (spec.fast_head) {
    // Beyond 1 the gradient stays 1.
    const double d = importance * (probability(frozen.fast) - (label > 0 ? 1 : 0));
    fast =
        std::fabs(d) > 1 ? (d > 0 ? s.fast : -s.fast) : importance * reference_loss(s.fast, label);
  }
  double own = 0;
  for (const double score : s.own) own += reference_loss(frozen.first + score, label);
  return importance * (loss + reference_loss(joint, label) + own) + fast;
}

}  // namespace leveret::model
