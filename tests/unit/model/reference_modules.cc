// Layers of interaction modules over embeddings, written from the equations in the headers of
// src/block/module and dhen_layer.h.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "block/module/module_kinds.h"
#include "reference_model.h"

namespace leveret::model {
namespace {

using Numbers = std::vector<double>;
using TokenList = std::vector<Numbers>;

double inner(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(const Numbers& from, double times, Numbers& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += times * from[i];
}

Numbers side_by_side(const TokenList& tokens) {
  Numbers all;
  for (const Numbers& token : tokens) all.insert(all.end(), token.begin(), token.end());
  return all;
}

/// A DHEN's tower, of one example.
class ReferenceDhen {
 public:
  ReferenceDhen(const ReferenceModel& model, const spec::TowerSpec& tower, ReferenceScores& s)
      : model_(model),
        made_{.name = {}, .inputs = {}, .kind = tower.kind, .options = tower.options},
        told_(tower),
        tower_(tower.name),
        s_(s) {}

  TokenList run() {
    TokenList x = model_.chosen(told_, s_);
    d_ = x[0].size();
    if (!s_.numbers.empty()) x.insert(x.begin(), model_.number_token(tower_, s_));
    std::vector<std::vector<std::uint32_t>> groups(1);
    for (const std::uint32_t number : made_.numbers("modules")) {
      if (number == block::TowerKey::kNextGroup) {
        groups.emplace_back();
      } else {
        groups.back().push_back(number);
      }
    }
    for (std::uint32_t l = 0; l < made_.number("layers"); ++l) {
      x = layer(tower_ + ".layer" + std::to_string(l), x, groups[groups.size() > 1 ? l : 0],
                l == 0 && told_.namespaces.empty());
    }
    return x;
  }

 private:
  TokenList layer(const std::string& name, const TokenList& x,
                  const std::vector<std::uint32_t>& modules, bool grows) {
    const std::uint32_t ensemble = made_.number("ensemble");
    TokenList y;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const std::string word = block::kModuleKinds[modules[i]].word;
      const TokenList u = module(word, name + "." + word, x);
      if (i == 0 || ensemble == 2) y.resize(y.size() + u.size(), Numbers(d_, 0.0));
      const double w = ensemble == 1 ? model_.arrays.at(name + ".ensemble")[i] : 1;
      for (std::size_t j = 0; j < u.size(); ++j) add(u[j], w, y[y.size() - u.size() + j]);
    }
    if (made_.number("shortcut") == 0) {
      const TokenList skipped = grows || x.size() != y.size() ? mixed(name + ".shortcut", x) : x;
      for (std::size_t j = 0; j < y.size(); ++j) add(skipped[j], 1, y[j]);
    }
    return made_.number("norm") == 0 ? normed(name + ".norm", y) : y;
  }

  TokenList module(const std::string& word, const std::string& name, const TokenList& x) {
    if (word == "linear") return mixed(name, x);
    if (word == "attention") return attention(name, x);
    if (word == "convolution") return convolution(name, x);
    if (word == "cross") return cross(name, x);
    if (word == "dot") return dot(name, x);
    if (word == "product") return product(name, x);
    return experts(name, x, word == "experts");
  }

  Numbers dense(const std::string& name, const Numbers& in) const {
    const ReferenceModel::Layer& layer = model_.layer(name);
    Numbers out = layer.bias;
    out.resize(layer.weights.size(), 0.0);
    for (std::size_t o = 0; o < out.size(); ++o) out[o] += inner(layer.weights[o], in);
    return out;
  }

  Numbers relu(Numbers x) {
    for (double& number : x) {
      s_.nearest_kink = std::min(s_.nearest_kink, std::fabs(number));
      number = std::max(number, 0.0);
    }
    return x;
  }

  TokenList in_tokens(const Numbers& numbers) const {
    TokenList tokens;
    for (std::size_t i = 0; i < numbers.size(); i += d_) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i);
      tokens.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(d_));
    }
    return tokens;
  }

  TokenList mixed(const std::string& name, const TokenList& x) const {
    const ReferenceModel::Layer& layer = model_.layer(name);
    TokenList made;
    for (std::size_t j = 0; j < layer.weights.size(); ++j) {
      Numbers& u = made.emplace_back(d_, layer.bias.empty() ? 0 : layer.bias[j]);
      for (std::size_t f = 0; f < x.size(); ++f) add(x[f], layer.weights[j][f], u);
    }
    return made;
  }

  TokenList normed(const std::string& name, TokenList x) const {
    const Numbers &gain = model_.arrays.at(name + ".gain"),
                  &bias = model_.arrays.at(name + ".bias");
    for (Numbers& token : x) {
      const auto count = static_cast<double>(d_);
      const double mean = std::accumulate(token.begin(), token.end(), 0.0) / count;
      double variance = 0;
      for (const double number : token) variance += (number - mean) * (number - mean) / count;
      for (std::size_t c = 0; c < d_; ++c) {
        token[c] = gain[c] * (token[c] - mean) / std::sqrt(variance + 1e-5) + bias[c];
      }
    }
    return x;
  }

  TokenList attention(const std::string& name, const TokenList& x) {
    const std::size_t heads = made_.number("heads"), dim = d_ / heads;
    TokenList qkv, attended;
    for (const Numbers& token : x) qkv.push_back(dense(name + ".qkv", token));
    const auto part = [&](std::size_t token, std::size_t which, std::size_t h) {
      const auto begin = qkv[token].begin() + static_cast<std::ptrdiff_t>(which * d_ + h * dim);
      return Numbers(begin, begin + static_cast<std::ptrdiff_t>(dim));
    };
    for (std::size_t f = 0; f < x.size(); ++f) {
      Numbers o;
      for (std::size_t h = 0; h < heads; ++h) {
        Numbers shares, of_head(dim, 0.0);
        for (std::size_t g = 0; g < x.size(); ++g) {
          const double dot = inner(part(f, 0, h), part(g, 1, h));
          shares.push_back(std::exp(dot / std::sqrt(static_cast<double>(dim))));
        }
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (std::size_t g = 0; g < x.size(); ++g) add(part(g, 2, h), shares[g] / sum, of_head);
        o.insert(o.end(), of_head.begin(), of_head.end());
      }
      attended.push_back(dense(name + ".o", o));
      add(x[f], 1, attended.back());
    }
    TokenList z = normed(name + ".norm1", attended);
    for (Numbers& token : z) {
      const Numbers fed = dense(name + ".ffn2", relu(dense(name + ".ffn1", token)));
      add(fed, 1, token);
    }
    return mixed(name, normed(name + ".norm2", z));
  }

  TokenList convolution(const std::string& name, const TokenList& x) {
    const std::size_t filters = made_.number("filters");
    TokenList images(x.size() * filters, Numbers(d_));
    for (std::size_t f = 0; f < x.size(); ++f) {
      for (std::size_t c = 0; c < d_; ++c) {
        Numbers patch;
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 3; ++j) {
            const bool inside = f + i >= 1 && f + i <= x.size() && c + j >= 1 && c + j <= d_;
            patch.push_back(inside ? x[f + i - 1][c + j - 1] : 0);
          }
        }
        const Numbers y = relu(dense(name + ".filters", patch));
        for (std::size_t k = 0; k < filters; ++k) images[f * filters + k][c] = y[k];
      }
    }
    return mixed(name, images);
  }

  TokenList cross(const std::string& name, const TokenList& x) const {
    TokenList u = mixed(name + ".a", x);
    const TokenList c = mixed(name + ".c", x);
    for (std::size_t j = 0; j < u.size(); ++j) {
      for (std::size_t i = 0; i < d_; ++i) u[j][i] *= c[j][i];
    }
    return u;
  }

  TokenList dot(const std::string& name, const TokenList& x) {
    Numbers products;
    for (std::size_t g = 0; g < x.size(); ++g) {
      for (std::size_t f = 0; f < g; ++f) products.push_back(inner(x[f], x[g]));
    }
    if (products.empty()) products.push_back(0);
    return in_tokens(dense(name + ".w", relu(dense(name + ".v", products))));
  }

  TokenList product(const std::string& name, const TokenList& x) const {
    Numbers products;
    for (const Numbers& y : mixed(name + ".sums", x)) products.push_back(inner(y, y));
    return in_tokens(dense(name + ".w", products));
  }

  TokenList experts(const std::string& name, const TokenList& x, bool several) {
    const std::size_t count = several ? made_.number("experts") : 1;
    const std::size_t top = several ? made_.number("top") : 1;
    const Numbers in = side_by_side(x);
    const Numbers scores = count > 1 ? dense(name + ".gate", in) : Numbers{0};
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, std::greater(), [&](std::size_t e) { return scores[e]; });
    if (top < count) {  // which experts are chosen must not change within reach of the differences
      s_.nearest_kink = std::min(s_.nearest_kink, scores[order[top - 1]] - scores[order[top]]);
    }
    order.resize(top);
    double sum = 0;
    for (const std::size_t e : order) sum += std::exp(scores[e]);
    Numbers u;
    for (const std::size_t e : order) {
      const std::string expert = name + ".expert" + std::to_string(e);
      const Numbers y = dense(expert + ".v", relu(dense(expert + ".u", in)));
      u.resize(y.size(), 0.0);
      add(y, std::exp(scores[e]) / sum, u);
    }
    return in_tokens(u);
  }

  const ReferenceModel& model_;
  block::Tower made_;
  const spec::TowerSpec& told_;
  std::string tower_;  ///< its name
  ReferenceScores& s_;
  std::size_t d_ = 0;
};

}  // namespace

std::vector<double> ReferenceModel::dhen(const spec::TowerSpec& tower, ReferenceScores& s) const {
  return side_by_side(ReferenceDhen(*this, tower, s).run());
}

}  // namespace leveret::model
