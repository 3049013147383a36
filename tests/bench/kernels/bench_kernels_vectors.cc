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
  std::vector<float*> places;  ///< each of the pairs once, none beside its neighbour

  Vectors() {
    for (std::size_t i = 0; i < kLength; ++i) places.push_back(pairs.get() + 2 * (i * 7 % kLength));
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

std::byte* bytes(const Floats& floats) { return reinterpret_cast<std::byte*>(floats.get()); }

void register_vectors() {
  using kernels::Kernels;
  add("dot", 2, 2, [](const Kernels& kernels, Vectors& v) {
    v.out[0] = kernels.dot(v.a.get(), v.b.get(), kLength);
  });
  add("total", 1, 1, [](const Kernels& kernels, Vectors& v) {
    v.out[0] = kernels.total(v.a.get(), kLength);
  });
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
  add("add_changes", 2, 2, [](const Kernels& kernels, Vectors& v) {
    kernels.add_changes(kernels::RowFormat::kI16, bytes(v.a), bytes(v.b), kLength, bytes(v.out));
  });
  add("add_slice_changes", 2, 2, [](const Kernels& kernels, Vectors& v) {
    kernels.add_slice_changes(kernels::RowFormat::kI16, bytes(v.a), bytes(v.b), kLength, 7,
                              bytes(v.out));
  });
  add("squares", 3, 1, [](const Kernels& kernels, Vectors& v) {
    kernels.squares(v.a.get(), .1f, kLength, v.acc.get(), v.out.get());
  });
  add("root_steps", 3, 3, [](const Kernels& kernels, Vectors& v) {
    kernels.root_steps(v.a.get(), v.acc.get(), kLength, .05f, v.out.get());
  });
  add("scattered_steps", 5, 6, [](const Kernels& kernels, Vectors& v) {
    kernels.scattered_steps(v.places.data(), v.a.get(), .1f, kLength, 1, .05f);
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
