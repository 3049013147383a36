// Products of small matrices and softmax: each instruction set beside the reference.
#include <numeric>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

struct Sizes {
  std::size_t rows, inner, columns;
};

constexpr Sizes kSizes[] = {{0, 3, 4},   {3, 0, 4},   {3, 4, 0},   {1, 1, 1},    {2, 3, 5},
                            {5, 7, 16},  {8, 4, 17},  {9, 16, 8},  {11, 39, 39}, {39, 8, 39},
                            {17, 2, 33}, {4, 100, 7}, {100, 5, 3}, {16, 16, 48}};

template <class Body>
void for_each_size(Body&& body) {
  for (const Sizes& of : kSizes) {
    INFO(of.rows << " by " << of.inner << " by " << of.columns);
    body(of);
  }
}

TEST_CASE("reference: a product of small matrices, by rows and by columns") {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 100, 20, 200, 30, 300};
  float out[] = {1, 1, -1, 1, 1, -1};  // two rows of two, three apart
  reference().multiply_add({2, 3, 2, 3, 1, 2, 3}, a, b, out);
  CHECK(std::vector<float>(out, out + 6) == std::vector<float>{141, 1401, -1, 321, 3201, -1});
  float of_columns[] = {0, 0, 0, 0};
  reference().multiply_add({2, 3, 2, 1, 2, 2, 2}, a, b, of_columns);
  CHECK(std::vector<float>(of_columns, of_columns + 4) == std::vector<float>{220, 2200, 280, 2800});
}

TEST_CASE("multiply_add of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for_each_size([&](const Sizes& s) {
      for (const bool by_columns : {false, true}) {
        // Rows of all three have a number more than is used.
        const std::size_t a_line = by_columns ? s.rows + 1 : s.inner + 1, line = s.columns + 1;
        const SmallProduct of{
            s.rows, s.inner, s.columns, by_columns ? 1 : a_line, by_columns ? a_line : 1,
            line,   line};
        const std::size_t a_size = (by_columns ? s.inner : s.rows) * a_line;
        const std::vector<float> before = random_floats(s.rows * line, 1);
        const Floats a(random_floats(a_size, 2)), b(random_floats(s.inner * line, 3));
        Floats out(before);
        std::vector<float> expected = before;
        reference().multiply_add(of, a, b, expected.data());
        kernels.multiply_add(of, a, b, out);
        std::vector<double> tolerance(expected.size());  // 0 where nothing is made
        for (std::size_t i = 0; i < s.rows; ++i) {
          for (std::size_t j = 0; j < s.columns; ++j) {
            tolerance[i * line + j] = static_cast<double>(s.inner + 2) * 2 * kEps;
          }
        }
        require_close(out.copy(), expected, tolerance);
      }
    });
  });
}

TEST_CASE("softmax and its way back of every instruction set") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const std::size_t rows : {0, 1, 3}) {
      for (const std::size_t columns : {1, 2, 7, 8, 16, 17, 39, 64, 100}) {
        for (const float factor : {.25f, 1.0f, 30.0f}) {
          INFO(rows << " rows of " << columns << ", factor " << factor);
          const std::vector<float> before = random_floats(rows * columns, 1, -3, 3);
          Floats x(before);
          std::vector<float> expected = before;
          reference().softmax(rows, columns, factor, expected.data());
          kernels.softmax(rows, columns, factor, x);
          // The exponent's rounding is as much of a share as the exponent is large.
          const double share = (6 * factor + static_cast<double>(columns) + 8) * kEps;
          std::vector<double> tolerance;
          for (const float y : expected) tolerance.push_back(share * y + 1e-37);
          require_close(x.copy(), expected, tolerance);

          const Floats y(expected);
          Floats d(random_floats(rows * columns, 2));
          std::vector<float> d_expected = d.copy();
          reference().softmax_back(y, rows, columns, factor, d_expected.data());
          kernels.softmax_back(y, rows, columns, factor, d);
          require_close(d.copy(), d_expected,
                        std::vector<double>(rows * columns,
                                            factor * static_cast<double>(columns + 4) * kEps));
        }
      }
    }
  });
}

TEST_CASE("softmax of numbers far apart and far from 0 is of sum 1") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (const float far : {1e3f, 1e6f, 1e30f}) {
      std::vector<float> x = {far, -far, far, 0, -far, far, 0, 0, 0, -far, 0, 0, 0, 0, 0, 0, far};
      kernels.softmax(1, x.size(), 1.0f, x.data());
      CHECK(std::accumulate(x.begin(), x.end(), 0.0f) == Approx(1));
      CHECK(x[0] == Approx(.25f));
      CHECK(x[1] == 0);
    }
  });
}

}  // namespace
}  // namespace leveret::kernels
