#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

const std::size_t kVectors[] = {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 39};
const std::size_t kNumbers[] = {1, 2, 3, 4, 5, 8, 11, 13, 16, 32};

template <class Body>
void for_each_shape(Body&& body) {
  for (const std::size_t n : kVectors) {
    for (const std::size_t k : kNumbers) {
      INFO(n << " vectors of " << k);
      body(n, k, n > 1 ? n * (n - 1) / 2 : 0);
    }
  }
}

TEST_CASE("reference: weighted pairs of vectors") {
  const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {10, 100, 1000};
  float out[6];
  reference().mix_vectors(w, x, 3, 2, out);
  CHECK(std::vector<float>(out, out + 6) ==
        std::vector<float>{10 * 3 + 100 * 5, 10 * 4 + 100 * 6, 10 * 1 + 1000 * 5, 10 * 2 + 1000 * 6,
                           100 * 1 + 1000 * 3, 100 * 2 + 1000 * 4});
  float dots[] = {1, 1, 1};
  reference().add_vector_dots(x, 3, 2, 2, dots);
  CHECK(std::vector<float>(dots, dots + 3) ==
        std::vector<float>{1 + 2 * (3 + 8), 1 + 2 * (5 + 12), 1 + 2 * (15 + 24)});
  float sum[] = {1, 1, 1};
  reference().add_numbers(Codec::f32(), reinterpret_cast<const std::byte*>(x), 3, 3, sum);
  CHECK(std::vector<float>(sum, sum + 3) == std::vector<float>{4, 7, 10});
}

TEST_CASE("mix_vectors of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_shape([&](std::size_t n, std::size_t k, std::size_t pairs) {
      const Floats x(random_floats(n * k, 1)), w(random_floats(pairs, 2));
      Floats out(n * k);
      std::vector<float> expected(n * k);
      reference().mix_vectors(w, x, n, k, expected.data());
      kernels.mix_vectors(w, x, n, k, out);
      require_close(out.copy(), expected, std::vector<double>(n * k, double(n) * kEps));
    });
  });
}

TEST_CASE("add_vector_dots of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_shape([&](std::size_t n, std::size_t k, std::size_t pairs) {
      const Floats x(random_floats(n * k, 3)), dots(random_floats(pairs, 4));
      std::vector<float> expected = dots.copy();
      reference().add_vector_dots(x, n, k, .7f, expected.data());
      kernels.add_vector_dots(x, n, k, .7f, dots);
      require_close(dots.copy(), expected, std::vector<double>(pairs, double(k + 1) * kEps));
    });
  });
}

TEST_CASE("add_numbers of every instruction set and codec") {
  const Codec codec =
      GENERATE(Codec::f32(), Codec::bf16(), Codec::fixed(16, 12), Codec::fixed(12, 8),
               Codec::fixed(8, 5), Codec::fixed(4, 2), Codec::scaled(8), Codec::scaled(4));
  for_each_instruction_set([&](const Kernels& kernels) {
    for (const std::size_t length : {1, 2, 3, 7, 8, 16, 31, 39}) {
      INFO("length " << length << ", " << int{codec.bits} << " bits");
      const Guarded<std::byte> array(codec.bytes(length));
      if (codec.is_scaled()) {
        const std::vector<float> codes = random_floats(codec.bytes(length), 5, 0, 256);
        for (std::size_t i = 0; i < codes.size(); ++i) array[i] = std::byte(codes[i]);
        const float scale = .01f;
        std::memcpy(array, &scale, sizeof scale);
      } else {
        encode_all(codec, array, 0, random_floats(length, 5).data(), length);
      }
      const std::vector<float> before = random_floats(length, 6);
      const Floats sum(before);
      std::vector<float> expected = before;
      reference().add_numbers(codec, array, .3f, length, expected.data());
      kernels.add_numbers(codec, array, .3f, length, sum);
      require_close(sum.copy(), expected, std::vector<double>(length, 2 * kEps));
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
