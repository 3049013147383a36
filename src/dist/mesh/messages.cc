#include "dist/mesh/messages.h"

#include <algorithm>
#include <stdexcept>

#include "dist/talk/narrow_numbers.h"
#include "files/bytes.h"

namespace leveret::dist {
namespace {

using files::BytesReader;
using files::put;
using files::put_array;

template <class Read>
void read(std::string_view bytes, Read reading) {
  try {
    BytesReader reader(bytes);
    reading(reader);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("a message of a mesh came damaged: ") + error.what());
  }
}

}  // namespace

void encode_wanted(std::span<const Wanted> features, Bytes& to) {
  to.clear();
  std::vector<std::uint32_t> shards, counts, keys, uses;
  for (const Wanted& feature : features) {
    if (shards.empty() || shards.back() != feature.shard) {
      shards.push_back(feature.shard);
      counts.push_back(0);
    }
    ++counts.back();
    keys.push_back(feature.key);
    uses.push_back(2 * feature.rows + (feature.cell ? 1 : 0));
  }
  put(to, static_cast<std::uint32_t>(shards.size()));
  put_numbers(to, shards);
  put_numbers(to, counts);
  put_array(to, keys.data(), keys.size());
  put_numbers(to, uses);
}

void decode_wanted(std::string_view bytes, std::uint32_t shards, std::vector<Wanted>& features) {
  features.clear();
  read(bytes, [&](BytesReader& from) {
    const std::size_t runs = from.get_count(1);
    const std::vector<std::uint32_t> of = get_numbers(from, runs), counts = get_numbers(from, runs);
    for (std::size_t r = 0; r < runs; ++r) {
      from.check(of[r] < shards, "a shard is none");
      from.check(counts[r] <= bytes.size(), "there are too many features");
      features.resize(features.size() + counts[r], {of[r], table::kNoKey});
    }
    const std::vector<std::uint32_t> keys = from.get_array<std::uint32_t>(features.size());
    const std::vector<std::uint32_t> uses = get_numbers(from, features.size());
    for (std::size_t i = 0; i < features.size(); ++i) {
      from.check(keys[i] != table::kNoKey, "a key is none");
      features[i].key = keys[i];
      features[i].cell = uses[i] % 2 == 1;
      features[i].rows = uses[i] / 2;
    }
  });
}

void encode_lent(const Lent& lent, Bytes& to) {
  to.clear();
  put_array(to, lent.cells.data(), lent.cells.size());
  put_numbers(to, lent.row_from);
  to.append(reinterpret_cast<const char*>(lent.rows.data()), lent.rows.size());
}

void decode_lent(std::string_view bytes, std::span<const Wanted> features, std::size_t row_bytes,
                 Lent& lent) {
  read(bytes, [&](BytesReader& from) {
    const auto count = [&](auto is) {
      return static_cast<std::size_t>(std::ranges::count_if(features, is));
    };
    lent.cells = from.get_array<float>(count([](const Wanted& f) { return f.cell; }));
    lent.row_from = get_numbers(from, count([](const Wanted& f) { return f.rows > 0; }));
    std::size_t rows = 0, next = 0;
    for (const Wanted& feature : features) {
      if (feature.rows > 0) rows += lent.row_from[next++] < feature.rows;
    }
    lent.rows = from.get_array<std::byte>(rows * row_bytes);
  });
}

void encode_gradients(const Gradients& gradients, Bytes& to) {
  to.clear();
  put_array(to, gradients.cells.data(), gradients.cells.size());
  put_array(to, gradients.rows.data(), gradients.rows.size());
}

void decode_gradients(std::string_view bytes, std::size_t cells, std::size_t rows,
                      Gradients& gradients) {
  read(bytes, [&](BytesReader& from) {
    gradients.cells = from.get_array<float>(cells);
    gradients.rows = from.get_array<float>(rows);
  });
}

}  // namespace leveret::dist
