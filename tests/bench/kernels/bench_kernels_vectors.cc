/// The kernels over plain vectors at the length of a DeepFFM's normalised input.
#include <vector>

#include "registry.h"

namespace leveret::bench {
namespace {

constexpr std::size_t kLength = 780;

struct Vectors {
  Floats a = random_floats(kLength, -1, 1), b = random_floats(kLength, -1, 1),
         acc = random_floats(kLength, 1, 2), out = random_floats(kLength, -1, 1);
  Floats pairs = random_floats(2 * kLength, 1, 2);
  Floats slots = random_floats(8 * kLength, 1, 2);
  /// Each of the pairs once, and each slot's cell, none beside its neighbour.
  std::vector<float*> weight_ptrs, cells;

  Vectors() {
    for (std::size_t i = 0; i < kLength; ++i) {
      weight_ptrs.push_back(pairs.get() + 2 * (i * 7 % kLength));
      cells.push_back(slots.get() + 8 * (i * 7 % kLength) + 2);
    }
  }
};

template <class Work>
void add(const std::string& name, double arrays, double flops, Work work) {
  register_all(name, [=](benchmark::State& state, const kernels::Kernels& kernels) {
    Vectors v;
    for (auto _ : state) {
      work(kernels, v);
      benchmark::ClobberMemory();
    }
    count(state, arrays * 4 * kLength, flops * kLength);
  });
}

constexpr kernels::Codec kInt16 = kernels::Codec::fixed(16, kernels::kDefaultShift);

std::byte* bytes(const Floats& floats) { return reinterpret_cast<std::byte*>(floats.get()); }

void register_vectors() {
  using kernels::Kernels;
  add("dot", 2, 2, [](const Kernels& kernels, Vectors& v) {
    v.out[0] = kernels.dot(v.a.get(), v.b.get(), kLength);
  });
  add("total", 1, 1,
      [](const Kernels& kernels, Vectors& v) { v.out[0] = kernels.total(v.a.get(), kLength); });
  add("centre", 2, 3, [](const Kernels& kernels, Vectors& v) {
    v.out[0] = kernels.centre(v.a.get(), kLength, .1f, v.out.get());
  });
  add("scale", 2, 1, [](const Kernels& kernels, Vectors& v) {
    kernels.scale(v.a.get(), kLength, 2, v.out.get());
  });
  add("normalise_back", 3, 4, [](const Kernels& kernels, Vectors& v) {
    kernels.normalise_back(v.a.get(), kLength, .1f, .2f, .5f, v.out.get());
  });
  add("ffm_deltas", 2, 2, [](const Kernels& kernels, Vectors& v) {
    constexpr std::size_t kFields = 38;  // with what it may read behind, as long as the others
    kernels.ffm_deltas(v.a.get(), .1f, v.b.get(), kFields, v.out.get());
  });
  add("axpy", 3, 2, [](const Kernels& kernels, Vectors& v) {
    kernels.axpy(.001f, v.a.get(), kLength, v.out.get());
  });
  // Two numbers of 16 bits take a float's room.
  for (const auto& [name, codec] : {std::pair{"_i16", kInt16}, {"_bf16", kernels::Codec::bf16()}}) {
    add(std::string("add_changes") + name, 2, 2, [=](const Kernels& kernels, Vectors& v) {
      kernels.add_changes(codec, bytes(v.a), bytes(v.b), kLength, 7, bytes(v.out));
    });
    add(std::string("decode") + name, 1.5, 1, [=](const Kernels& kernels, Vectors& v) {
      kernels.decode(codec, bytes(v.a), kLength, v.out.get());
    });
    add(std::string("encode") + name, 1.5, 3, [=](const Kernels& kernels, Vectors& v) {
      kernels.encode(codec, v.a.get(), kLength, 7, bytes(v.out));
    });
  }
  add("squares", 3, 1, [](const Kernels& kernels, Vectors& v) {
    kernels.squares(v.a.get(), .1f, kLength, v.acc.get(), v.out.get());
  });
  add("adagrad_deltas", 3, 3, [](const Kernels& kernels, Vectors& v) {
    kernels.adagrad_deltas(v.a.get(), v.acc.get(), kLength, .05f, v.out.get());
  });
  add("adagrad_gather_scatter", 5, 6, [](const Kernels& kernels, Vectors& v) {
    kernels.adagrad_gather_scatter(v.weight_ptrs.data(), v.a.get(), .1f, kLength, 1, .05f);
  });
  add("step_cells", 9, 12, [](const Kernels& kernels, Vectors& v) {
    kernels.step_cells(v.cells.data(), v.a.get(), kLength, {.1f, .1f, .01f, 1, .05f});
  });
  add("update", 5, 7, [](const Kernels& kernels, Vectors& v) {
    kernels.update(v.out.get(), v.acc.get(), v.a.get(), kLength, {});
  });
}

}  // namespace
}  // namespace leveret::bench

int main(int argc, char** argv) {
  leveret::bench::register_vectors();
  return leveret::bench::run(argc, argv);
}
