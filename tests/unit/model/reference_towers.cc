// Towers over embeddings, written from the equations in the headers of their blocks.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reference_model.h"

namespace leveret::model {
namespace {

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> dense(const ReferenceModel::Layer& layer, const std::vector<double>& in) {
  std::vector<double> out = layer.bias;
  for (std::size_t o = 0; o < out.size(); ++o) out[o] += product(layer.weights[o], in);
  return out;
}

}  // namespace

const ReferenceModel::Layer& ReferenceModel::layer(const std::string& name) const {
  const auto found = std::ranges::find(layers, name, &Layer::name);
  if (found == layers.end()) throw std::logic_error("there is no layer " + name);
  return *found;
}

/// embedding_block.h.
void ReferenceModel::embeddings(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                                ReferenceScores& s) const {
  const std::size_t d = spec.embedding_dim;
  const std::size_t first = std::size_t{fields} * spec.ffm_k;
  s.embeddings.assign(fields, std::vector<double>(d, 0.0));
  std::vector<double> sizes(fields, 0.0);
  const std::vector<Part> parts = parts_of(batch, b, x, s.embedding_scale);
  for (const Part& part : parts) sizes[part.field] += std::fabs(part.x);
  s.embedded.clear();
  for (const Part& part : parts) {
    const bool mean = spec.pool == block::Pool::kMean;
    const double factor = part.x / (mean ? std::max(sizes[part.field], 1e-6) : 1);
    std::vector<double>& own = s.embedded.emplace_back(d);
    for (std::size_t c = 0; c < d; ++c) {
      own[c] = factor * (*part.row)[first + c];
      s.embeddings[part.field][c] += own[c];
    }
  }
}

namespace {

std::vector<std::uint32_t> numbers_of(const spec::TowerSpec& tower, std::string_view key) {
  return block::Tower{.name = {}, .inputs = {}, .kind = tower.kind, .options = tower.options}
      .numbers(key);
}

}  // namespace

void ReferenceModel::towers(bool have_layers, ReferenceScores& s) const {
  for (const spec::TowerSpec& of : spec.towers()) {
    if (!of.reads(spec::TowerSpec::kEmbeddings) || of.kind->has_layers != have_layers) continue;
    const double score = tower(of, s);
    if (of.own_loss) {
      s.own.push_back(score);
      continue;
    }
    s.towers += score;
    join(score, s);
  }
}

/// joined_inputs.h.
std::vector<double> ReferenceModel::inputs_of(const spec::TowerSpec& tower,
                                              const ReferenceScores& s) const {
  std::vector<double> in;
  const auto normalised = static_cast<std::ptrdiff_t>(s.pairs.size() + s.group_linear.size());
  const bool merges = tower.reads(spec::TowerSpec::kMerged);
  if (merges) in.assign(s.inputs.begin(), s.inputs.begin() + normalised);
  if (tower.reads(spec::TowerSpec::kEmbeddings)) {
    for (const std::vector<double>& e : s.embeddings) in.insert(in.end(), e.begin(), e.end());
  }
  if (merges) in.insert(in.end(), s.inputs.begin() + normalised, s.inputs.end());
  if (tower.reads("pairs")) in.insert(in.end(), s.pairs.begin(), s.pairs.end());
  if (tower.reads(spec::TowerSpec::kNumbers)) {
    in.insert(in.end(), s.numbers.begin(), s.numbers.end());
  }
  return in;
}

double ReferenceModel::tower(const spec::TowerSpec& tower, ReferenceScores& s) const {
  if (tower.kind == &block::kFmTower && numbers_of(tower, "pairs")[0] == 1) {
    double sum = 0;  // fm_tower_block.h, by the pairs of features
    for (std::size_t i = 0; i < s.embedded.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) sum += product(s.embedded[i], s.embedded[j]);
    }
    return s.embedding_scale * sum;
  }
  if (tower.kind == &block::kFmTower || tower.kind == &block::kFwfmTower) {
    double sum = 0;  // fm_tower_block.h, fwfm_block.h
    for (std::size_t g = 0; g < fields; ++g) {
      for (std::size_t f = 0; f < g; ++f) {
        const bool weighted = tower.kind == &block::kFwfmTower;
        const double r = weighted ? arrays.at(tower.name + ".r")[g * (g - 1) / 2 + f] : 1;
        sum += r * product(s.embeddings[f], s.embeddings[g]);
      }
    }
    return s.embedding_scale * sum;
  }
  std::vector<double> in = inputs_of(tower, s);
  if (fields == 0) return 0;
  in = tower.kind == &block::kAttentionTower ? attended(tower, s)
       : tower.kind == &block::kDotTower     ? multiplied(tower, s)
       : tower.kind == &block::kDhenTower    ? dhen(tower, s)
                                             : crossed(tower, std::move(in));
  const std::size_t hidden = numbers_of(tower, "hidden").size();
  for (std::size_t l = 0; l < hidden; ++l) {  // mlp_block.h
    in = dense(layer(tower.name + "." + std::to_string(l)), in);
    for (double& out : in) {
      s.nearest_kink = std::min(s.nearest_kink, std::fabs(out));
      out = std::max(out, 0.0);
    }
  }
  return dense(layer(tower.name + "." + std::to_string(hidden)), in)[0];
}

/// The embeddings of the fields that the tower stands over (field_tokens.h).
std::vector<std::vector<double>> ReferenceModel::chosen(const spec::TowerSpec& tower,
                                                        const ReferenceScores& s) const {
  if (tower.namespaces.empty()) return s.embeddings;
  std::vector<std::vector<double>> all;
  for (std::size_t f = 0; f < spec.features.fields.size(); ++f) {
    const std::vector<std::string>& names = spec.features.fields[f];
    const bool has = std::ranges::any_of(tower.namespaces, [&](const std::string& name) {
      return std::ranges::find(names, name) != names.end();
    });
    if (has) all.push_back(s.embeddings[f]);
  }
  return all;
}

/// number_token.h.
std::vector<double> ReferenceModel::number_token(const std::string& tower,
                                                 ReferenceScores& s) const {
  std::vector<double> h = dense(layer(tower + ".numbers.v"), s.numbers);
  for (double& out : h) {
    s.nearest_kink = std::min(s.nearest_kink, std::fabs(out));
    out = std::max(out, 0.0);
  }
  return dense(layer(tower + ".numbers.w"), h);
}

/// attention_block.h.
std::vector<double> ReferenceModel::attended(const spec::TowerSpec& tower,
                                             ReferenceScores& s) const {
  using Tokens = std::vector<std::vector<double>>;
  Tokens x = chosen(tower, s);
  if (!s.numbers.empty()) x.insert(x.begin(), number_token(tower.name, s));
  const std::size_t heads = numbers_of(tower, "heads")[0], dim = numbers_of(tower, "dim")[0];
  for (std::uint32_t l = 0; l < numbers_of(tower, "layers")[0]; ++l) {
    const std::string name = tower.name + ".attention" + std::to_string(l);
    const auto passed = [&](const char* what) {
      Tokens all;
      for (const std::vector<double>& token : x) all.push_back(dense(layer(name + what), token));
      return all;
    };
    const Tokens q = passed(".q"), k = passed(".k"), v = passed(".v");
    x = passed(".r");
    for (std::size_t h = 0; h < heads; ++h) {
      const auto of_head = [&](const std::vector<double>& token) {
        const auto begin = token.begin() + static_cast<std::ptrdiff_t>(h * dim);
        return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(dim));
      };
      for (std::size_t f = 0; f < q.size(); ++f) {
        std::vector<double> shares;
        for (std::size_t g = 0; g < q.size(); ++g) {
          shares.push_back(std::exp(product(of_head(q[f]), of_head(k[g]))));
        }
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (std::size_t g = 0; g < q.size(); ++g) {
          const std::vector<double> value = of_head(v[g]);
          for (std::size_t c = 0; c < dim; ++c) x[f][h * dim + c] += shares[g] / sum * value[c];
        }
      }
    }
    for (std::vector<double>& token : x) {
      for (double& number : token) {
        s.nearest_kink = std::min(s.nearest_kink, std::fabs(number));
        number = std::max(number, 0.0);
      }
    }
  }
  std::vector<double> all;
  for (const std::vector<double>& token : x) all.insert(all.end(), token.begin(), token.end());
  return all;
}

/// dot_block.h.
std::vector<double> ReferenceModel::multiplied(const spec::TowerSpec& tower,
                                               ReferenceScores& s) const {
  std::vector<double> all;
  std::vector<std::vector<double>> x = chosen(tower, s);
  if (!s.numbers.empty()) {
    x.insert(x.begin(), number_token(tower.name, s));
    all = x[0];
  }
  for (std::size_t f = all.empty() ? 0 : 1; numbers_of(tower, "keep")[0] == 0 && f < x.size();
       ++f) {
    all.insert(all.end(), x[f].begin(), x[f].end());
  }
  for (std::size_t g = 0; g < x.size(); ++g) {
    for (std::size_t f = 0; f < g; ++f) all.push_back(product(x[f], x[g]));
  }
  if (all.empty()) all.push_back(0);
  return all;
}

/// cross_block.h.
std::vector<double> ReferenceModel::crossed(const spec::TowerSpec& tower,
                                            std::vector<double> x0) const {
  std::vector<double> x = x0;
  const std::vector<std::uint32_t> layers = numbers_of(tower, "layers");
  for (std::uint32_t l = 0; !layers.empty() && l < layers[0]; ++l) {
    const std::string name = tower.name + ".cross" + std::to_string(l);
    if (tower.kind == &block::kCrossTower) {
      const double y = dense(layer(name + ".w"), x)[0];
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += x0[i] * y + arrays.at(name + ".b")[i];
    } else {
      const std::vector<double> y = dense(layer(name + ".u"), dense(layer(name + ".v"), x));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += x0[i] * y[i];
    }
  }
  return x;
}

}  // namespace leveret::model
