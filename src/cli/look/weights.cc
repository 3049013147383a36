#include "cli/look/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/look/feature_names.h"
#include "cli/score/figures.h"
#include "kernels/rows/codec.h"
#include "metrics/figures_json.h"

namespace leveret::cli {
namespace {

/// The first so many of what it is given, by size.
class Largest {
 public:
  explicit Largest(std::size_t most) : most_(most) {}

  void add(FeatureWeight weight) {
    all_.push_back(std::move(weight));
    if (all_.size() >= 2 * most_ + 1024) cut();
  }
  std::vector<FeatureWeight> take() {
    cut();
    std::ranges::sort(all_, before);
    return std::move(all_);
  }

 private:
  static bool before(const FeatureWeight& a, const FeatureWeight& b) {
    const auto key = [](const FeatureWeight& w) {
      return std::tuple(-std::fabs(w.weight), -w.row_length.value_or(-1.0f), w.group, w.key);
    };
    return key(a) < key(b);
  }
  void cut() {
    if (all_.size() <= most_) return;
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(all_.begin(), end, all_.end(), before);
    all_.erase(end, all_.end());
  }

  const std::size_t most_;
  std::vector<FeatureWeight> all_;
};

void put_cell(const table::Cell& cell, bool mixed, FeatureWeight& to) {
  to.weight = table::as_read(cell.weight);
  if (!mixed) return;
  to.clicks = table::mixed(cell).clicks;
  to.count = table::mixed(cell).count;
}

void add_shard(const table::Shard& shard, std::uint32_t group, bool mixed, Largest& to) {
  shard.for_each([&](const table::Slot& slot) {
    FeatureWeight weight{.group = group, .key = slot.key};
    if (shard.cells() != table::CellKind::kNone) put_cell(*table::cell_of(&slot), mixed, weight);
    const table::Row row = shard.has_rows() ? shard.row_of(slot) : table::kNoRow;
    if (row != table::kNoRow) weight.row_length = std::sqrt(row_squares(shard, row));
    to.add(std::move(weight));
  });
}

void add_hashed(const table::HashedCells& cells, bool mixed, Largest& to) {
  for (std::uint64_t i = 0; i < cells.capacity(); ++i) {
    FeatureWeight weight{.group = 0, .key = static_cast<std::uint32_t>(i)};
    put_cell(*cells.at(i), mixed, weight);
    if (weight.weight != 0 || weight.count != 0) to.add(std::move(weight));
  }
}

/// The weights that are looked for, by where they lie.
class Wanted {
 public:
  Wanted(const model::Model& model, std::vector<FeatureWeight>& weights) : model_(model) {
    for (FeatureWeight& weight : weights) at_[place(weight.group, weight.key)] = &weight;
  }

  void name(const FeatureNames::Named& named) {
    put(named.group(), named);
    if (named.plan == nullptr) return;
    for (const std::uint32_t field : named.plan->fields) put(field + 1, named);
  }

 private:
  static std::uint64_t place(std::uint32_t group, std::uint32_t key) {
    return std::uint64_t{group} << 32 | key;
  }
  void put(std::uint32_t group, const FeatureNames::Named& named) {
    const std::uint32_t hash = named.feature.hash, bits = model_.spec().bit_precision;
    find(model_.spec().has_rows() ? group : 0, table::key_of(hash), named);
    if (bits > 0) find(0, hash & ((1u << bits) - 1), named);
  }
  void find(std::uint32_t group, std::uint32_t key, const FeatureNames::Named& named) {
    const auto found = at_.find(place(group, key));
    if (found != at_.end() && found->second->name.empty()) found->second->name = named.name;
  }

  const model::Model& model_;
  std::unordered_map<std::uint64_t, FeatureWeight*> at_;
};

std::string field_of(const model::Model& model, std::uint32_t group) {
  return group == 0 ? "-" : model.features().field_names()[group - 1];
}

std::string name_or_hash(const FeatureWeight& weight) {
  return weight.name.empty() ? std::to_string(weight.key) : weight.name;
}

std::string table_of(const model::Model& model, const std::vector<FeatureWeight>& weights) {
  const bool counts = model.spec().mixed();
  std::string text = fmt::format("{:<12} {:<28} {:>10}", "field", "feature", "weight");
  text += counts ? fmt::format(" {:>9} {:>8}", "count", "clicks") : "";
  text += fmt::format(" {:>8}\n", "row");
  for (const FeatureWeight& weight : weights) {
    text += fmt::format("{:<12} {:<28} {:>10.6f}", cut(field_of(model, weight.group), 12),
                        cut(name_or_hash(weight), 28), weight.weight);
    if (counts) {
      const float rate = weight.count > 0 ? weight.clicks / weight.count : 0;
      text += fmt::format(" {:>9.6g} {:>8.6f}", weight.count, rate);
    }
    const std::string row = weight.row_length ? fmt::format("{:.4f}", *weight.row_length) : "-";
    text += fmt::format(" {:>8}\n", row);
  }
  return text;
}

std::string json_lines(const model::Model& model, const std::vector<FeatureWeight>& weights) {
  using Json = nlohmann::ordered_json;
  std::string text;
  for (const FeatureWeight& weight : weights) {
    Json json;
    json["field"] = weight.group == 0 ? Json() : Json(field_of(model, weight.group));
    json["hash"] = weight.key;
    json["feature"] = weight.name.empty() ? Json() : Json(weight.name);
    json["weight"] = metrics::rounded(weight.weight);
    if (model.spec().mixed()) {
      json["count"] = metrics::rounded(weight.count);
      json["click_rate"] =
          weight.count > 0 ? metrics::rounded(weight.clicks / weight.count) : Json();
    }
    json["row_length"] = weight.row_length ? metrics::rounded(*weight.row_length) : Json();
    text += json_line(json);
  }
  return text;
}

}  // namespace

float row_squares(const table::Shard& shard, table::Row row) {
  float squares = 0;
  const table::RowLayout& layout = shard.rows().layout();
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    const table::RowLayout::Column& weights = layout.weights(p);
    for (std::size_t i = 0; i < weights.count; ++i) {
      const float weight = kernels::decode(weights.codec, shard.rows().at(row) + weights.begin, i);
      squares += weight * weight;
    }
  }
  return squares;
}

std::vector<FeatureWeight> largest_weights(const model::Model& model, std::size_t most) {
  Largest largest(most);
  const table::Tables& tables = model.tables();
  const bool mixed = model.spec().mixed();
  if (tables.hashed() != nullptr) add_hashed(*tables.hashed(), mixed, largest);
  for (std::uint32_t s = 0; s < tables.size(); ++s) add_shard(tables[s], s, mixed, largest);
  return largest.take();
}

void name_features(const model::Model& model, const InputOptions& data,
                   std::vector<FeatureWeight>& weights) {
  text::NamespaceNames names;
  text::ParserOptions parser = parser_options(model.spec(), data, model.features().plans());
  parser.keep_names = true;
  feature::FeatureMap features(model.features());
  feature::FeatureBatch batch;
  batch.groups = batch.keep_parents = true;
  FeatureNames named(names, features);
  Wanted wanted(model, weights);
  const auto tally = bad_line_tally(data);
  const auto source = open_text(data, names, parser);
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    for (std::size_t e = 0; e < chunk.examples.size(); ++e) {
      batch.clear();
      while (features.map(chunk, e, 1, batch) == 0) features.meet(names, chunk, e, false);
      named.for_each(chunk, chunk.examples[e], batch,
                     [&](const FeatureNames::Named& one) { wanted.name(one); });
    }
  });
}

std::string weights_text(const model::Model& model, const std::vector<FeatureWeight>& weights,
                         bool json) {
  return json ? json_lines(model, weights) : table_of(model, weights);
}

}  // namespace leveret::cli
