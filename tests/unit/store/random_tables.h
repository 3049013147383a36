/// Files of sections as a model has them, made at random and changed at random: shards of keys with
/// columns of every type, arrays without keys, sections that come and go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/key_order.h"
#include "store/model_file.h"

namespace leveret::store {

class RandomTables {
 public:
  explicit RandomTables(std::uint64_t seed, std::size_t features = 300) : random_(seed) {
    for (int i = 0; i < 3; ++i) {
      Shard& shard = shards_["shard." + std::to_string(i)];
      for (std::size_t n = 0; n < features; ++n) insert(shard);
    }
    shards_["empty"] = {};
    resize_blob();
  }

  /// One step of a training, with `share` of the features changed.
  void change(double share) {
    for (auto& [name, shard] : shards_) {
      std::vector<std::uint32_t> gone;
      for (auto& [key, feature] : shard) {
        if (chance(share / 10)) gone.push_back(key);
        if (chance(share / 10)) feature.has_row = !feature.has_row;
        if (chance(share)) change(feature);
      }
      for (const std::uint32_t key : gone) shard.erase(key);
      const auto more = static_cast<std::size_t>(share * static_cast<double>(shard.size()) / 4);
      for (std::size_t i = 0; i < more; ++i) insert(shard);
    }
    for (std::byte& b : dense_) {
      if (chance(share)) b = std::byte(random_());
    }
    for (std::byte& b : blob_) {
      if (chance(share / 20)) b = std::byte(random_());
    }
  }
  void add_field() { ++fields_; }
  void add_shard() {
    Shard& shard = shards_["new." + std::to_string(shards_.size())];
    for (int i = 0; i < 40; ++i) insert(shard);
  }
  void drop_shard() { shards_.erase(shards_.begin()); }
  void clear_shard() { shards_.begin()->second.clear(); }
  void resize_blob() { blob_.resize(random_() % 3000); }
  /// Keys in no order.
  void spoil_order() { sorted_ = false; }

  void save(const std::string& path) const {
    std::vector<SectionView> sections;
    std::vector<std::vector<std::byte>> memory;
    memory.reserve(1000);
    for (const auto& [name, shard] : shards_) save_shard(name, shard, sections, memory);
    const Declaration plain;
    add(sections, memory, "dense", Dtype::kF32, {3, fields_}, plain,
        first_of(dense_, 12 * fields_));
    add(sections, memory, "scalar", Dtype::kF64, {}, plain, first_of(dense_, 8));
    add(sections, memory, "blob", Dtype::kU8, {blob_.size()}, plain, blob_);
    add(sections, memory, "nothing", Dtype::kF32, {0, 4}, plain, {});
    write_model_file(path, Kind::kModel, R"({"sequence":1})", sections);
  }

 private:
  using Bytes = std::vector<std::byte>;
  static constexpr std::size_t kLargest = 64;  ///< bytes of a feature in one column

  struct Feature {
    bool has_row;
    std::uint64_t seed;                ///< of its first values
    std::map<std::size_t, int> steps;  ///< what has been added to which byte
  };
  using Shard = std::map<std::uint32_t, Feature>;

  struct ColumnKind {
    const char* name;
    Dtype dtype;
    std::vector<std::uint64_t> inner;
    int which;  ///< 0 all features, 1 those with a row, 2 those without
  };

  bool chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }

  void insert(Shard& shard) {
    shard[static_cast<std::uint32_t>(random_())] = {chance(0.4), random_(), {}};
  }

  void change(Feature& feature) {
    for (int i = 0; i < 4; ++i)
      feature.steps[random_() % 700] += static_cast<int>(random_() % 7) - 3;
  }

  std::vector<ColumnKind> kinds() const {
    return {{"weight", Dtype::kF32, {}, 0},         {"clicks", Dtype::kU16, {}, 0},
            {"bytes", Dtype::kI8, {3}, 0},          {"halves", Dtype::kI4, {fields_, 4}, 0},
            {"wide", Dtype::kU64, {}, 0},           {"doubles", Dtype::kF64, {2}, 0},
            {"rows", Dtype::kI16, {fields_, 4}, 1}, {"state", Dtype::kBf16, {fields_}, 1},
            {"counts", Dtype::kU32, {}, 2},         {"small", Dtype::kU8, {}, 2}};
  }

  static Bytes first_of(const Bytes& bytes, std::size_t count) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  static void add(std::vector<SectionView>& to, std::vector<Bytes>& memory, std::string name,
                  Dtype dtype, std::vector<std::uint64_t> shape, Declaration declared,
                  Bytes bytes) {
    memory.push_back(std::move(bytes));
    to.push_back({std::move(name),
                  dtype,
                  std::move(shape),
                  declared,
                  memory.back().data(),
                  memory.back().size(),
                  {}});
  }

  static Bytes values(const Feature& feature, std::size_t column, std::size_t bytes) {
    std::mt19937_64 random(feature.seed + column);
    Bytes result(bytes);
    for (std::byte& b : result) b = std::byte(random());
    for (const auto& [at, step] : feature.steps) {
      if (at / kLargest != column || at % kLargest >= bytes) continue;
      std::byte& b = result[at % kLargest];
      b = static_cast<std::byte>(std::to_integer<int>(b) + step);
    }
    return result;
  }

  void save_shard(const std::string& name, const Shard& shard, std::vector<SectionView>& to,
                  std::vector<Bytes>& memory) const {
    std::vector<std::pair<std::uint32_t, const Feature*>> order;
    for (const auto& [key, feature] : shard) order.emplace_back(key, &feature);
    if (sorted_) {
      std::ranges::sort(order, [](const auto& a, const auto& b) {
        return std::pair(!a.second->has_row, key_place(a.first)) <
               std::pair(!b.second->has_row, key_place(b.first));
      });
    }
    Declaration declared;
    declared.keys = static_cast<std::uint32_t>(to.size() + 1);
    declared.role = Role::kIndex;
    Bytes keys;
    for (const auto& [key, feature] : order) {
      const auto bytes = std::as_bytes(std::span(&key, 1));
      keys.insert(keys.end(), bytes.begin(), bytes.end());
    }
    add(to, memory, name + " keys", Dtype::kU32, {order.size()}, declared, std::move(keys));
    declared.role = Role::kState;
    const auto list = kinds();
    for (std::size_t c = 0; c < list.size(); ++c) {
      const ColumnKind& kind = list[c];
      std::uint64_t codes = 1, rows = 0;
      for (const std::uint64_t n : kind.inner) codes *= n;
      Bytes bytes;
      for (const auto& [key, feature] : order) {
        if (kind.which != 0 && feature->has_row != (kind.which == 1) && sorted_) continue;
        const Bytes part = values(*feature, c, codes * dtype_bits(kind.dtype) / 8);
        bytes.insert(bytes.end(), part.begin(), part.end());
        ++rows;
      }
      std::vector<std::uint64_t> shape = {rows};
      shape.insert(shape.end(), kind.inner.begin(), kind.inner.end());
      declared.last_keys = kind.which == 2;
      add(to, memory, name + " " + kind.name, kind.dtype, std::move(shape), declared,
          std::move(bytes));
    }
  }

  std::mt19937_64 random_;
  std::map<std::string, Shard> shards_;
  std::uint64_t fields_ = 3;
  Bytes dense_ = Bytes(600), blob_;
  bool sorted_ = true;
};

}  // namespace leveret::store
