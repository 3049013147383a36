/// The oracle itself, against numbers worked out by hand.
#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

TEST_CASE("reference: AdaGrad by hand") {
  float w[] = {1, 1}, acc[] = {12, 5};
  const float t[] = {2, 3}, delta[] = {2, 0};
  reference().ffm_update(w, acc, t, delta, 2, 1, {.rate = .5f, .power = .5f, .l2 = 0});
  CHECK(acc[0] == 28);  // 12 + (2*2)²
  CHECK(w[0] == Approx(1 - .5 * 4 / std::sqrt(28.)));
  CHECK(acc[1] == 5);
  CHECK(w[1] == 1);

  float v[] = {1}, sum[] = {15}, g[] = {.75f};
  reference().update(v, sum, g, 1, {.rate = .1f, .power = .25f, .l2 = .25f});
  CHECK(sum[0] == 16);  // gradient .75 + .25 * 1
  CHECK(v[0] == Approx(1 - .1 / 2));
}

TEST_CASE("reference: one accumulator per slot") {
  float w[] = {1, 2}, acc[] = {7.5f};
  const float t[] = {1, 2}, delta[] = {1};
  reference().ffm_update_slice(w, acc, t, delta, 1, 2, {.rate = 1, .power = .5f, .l2 = 0});
  CHECK(acc[0] == 10);  // 7.5 + (1 + 4) / 2
  CHECK(w[0] == Approx(1 - 1 / std::sqrt(10.)));
  CHECK(w[1] == Approx(2 - 2 / std::sqrt(10.)));
}

TEST_CASE("reference: a dense layer forward, backward, update") {
  const float bias[] = {10, 20}, in[] = {1, 2, 0, 1}, d_out[] = {3, 0};
  float w[] = {1, 2, -9, 3, 4, -9}, acc[] = {7, 0, -9, 1, 1, -9}, out[4], d_in[2];
  reference().dense_forward(w, bias, in, 2, 2, 3, 2, out);
  CHECK(std::vector<float>(out, out + 4) == std::vector<float>{15, 31, 12, 24});
  reference().dense_backward_update(w, acc, in, d_out, 2, 2, 3, 1,
                                    {.rate = 1, .power = .5f, .l2 = 0}, d_in);
  CHECK(d_in[0] == 3);
  CHECK(d_in[1] == 6);
  CHECK(acc[0] == 16);
  CHECK(w[0] == Approx(1 - 3. / 4));
  CHECK(acc[1] == 36);
  CHECK(w[1] == Approx(2 - 6. / 6));
  CHECK(std::vector<float>(w + 2, w + 6) == std::vector<float>{-9, 3, 4, -9});
}

TEST_CASE("reference: the step of a dense layer for two examples") {
  const float in[] = {1, 2, 3, 0}, d_out[] = {1, 0, 2, 0};
  float w[] = {1, 2, -9, 3, 4, -9}, acc[] = {32, 5, -9, 1, 1, -9}, d_in[4];
  reference().dense_backward_update(w, acc, in, d_out, 2, 2, 3, 2,
                                    {.rate = 1, .power = .5f, .l2 = 0}, d_in);
  CHECK(std::vector<float>(d_in, d_in + 4) == std::vector<float>{1, 2, 2, 4});
  CHECK(acc[0] == 81);  // 32 + (1*1 + 2*3)²
  CHECK(w[0] == Approx(1 - 7. / 9));
  CHECK(acc[1] == 9);
  CHECK(w[1] == Approx(2 - 2. / 3));
  CHECK(std::vector<float>(w + 2, w + 6) == std::vector<float>{-9, 3, 4, -9});
  reference().dense_backward(w, d_out + 2, 2, 2, 3, d_in);
  CHECK(d_in[0] == 2 * w[0]);
}

TEST_CASE("reference: total, centre, scale, axpy") {
  const float x[] = {1, 2, 4};
  float out[3] = {1, 1, 1};
  CHECK(reference().total(x, 3) == 7);
  reference().axpy(2, x, 3, out);
  CHECK(std::vector<float>(out, out + 3) == std::vector<float>{3, 5, 9});
  CHECK(reference().centre(x, 3, 2, out) == 5);
  CHECK(std::vector<float>(out, out + 3) == std::vector<float>{-1, 0, 2});
  reference().scale(x, 3, 10, out);
  CHECK(std::vector<float>(out, out + 3) == std::vector<float>{10, 20, 40});
  CHECK(reference().dot(x, x, 3) == 21);
}

TEST_CASE("reference: normalise_back, ffm_deltas") {
  const float x[] = {1, 2, 0};
  float d[] = {3, 4, 5};
  reference().normalise_back(x, 2, 1, .5f, 10, d);
  CHECK(std::vector<float>(d, d + 3) == std::vector<float>{15, 20, 5});
  const float pairs[] = {9, 1, 9, 2, 3, 9};
  float delta[6];
  reference().ffm_deltas(pairs, .5f, x, 3, delta);
  CHECK(std::vector<float>(delta, delta + 6) == std::vector<float>{0, 3, 0, 0, 0, 0});
  reference().ffm_deltas(nullptr, .5f, x, 3, delta);
  CHECK(std::vector<float>(delta, delta + 3) == std::vector<float>{0, 1, 0});
}

TEST_CASE("reference: squares, adagrad_deltas") {
  const float x[] = {6, -4, 2.1f * kMaxGradient};
  float g[3], squares[3], steps[3];
  reference().squares(x, .5f, 3, g, squares);
  CHECK(std::vector<float>(g, g + 2) == std::vector<float>{3, -2});
  CHECK(std::vector<float>(squares, squares + 3) == std::vector<float>{9, 4, 0});
  CHECK(g[2] == 0);
  const float acc[] = {9, 16, 0};
  reference().adagrad_deltas(g, acc, 3, 2, steps);
  CHECK(std::vector<float>(steps, steps + 3) == std::vector<float>{2, -1, 0});
}

}  // namespace
}  // namespace leveret::kernels
