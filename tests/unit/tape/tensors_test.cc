#include "tape/tensors.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

namespace leveret::tape {
namespace {

bool on_a_line(const float* at) {
  return reinterpret_cast<std::uintptr_t>(at) % table::kLineBytes == 0;
}

/// As blocks declare: `pairs`, whose gradients lie in those of `inputs`, and a tensor of the batch.
struct Declared {
  Declarations all;
  TensorId pairs = all.add(Tensor{.name = "pairs", .size = 6});
  TensorId inputs =
      all.add(Tensor{.name = "inputs", .size = 20, .whole_lines = true, .gradient = true});
  TensorId score = all.add(Tensor{.name = "score", .size = 1, .gradient = true});
  TensorId common = all.add(Tensor{.name = "common", .per = Tensor::Per::kBatch, .size = 5});
  Declared() { all[pairs].gradient_in = inputs; }
};

TEST_CASE("tensors are found by name when blocks declare, and by id afterwards") {
  Declared declared;
  CHECK(declared.all.find_tensor("score") == declared.score);
  CHECK(declared.all.find_tensor("scores") == TensorId::kNone);
  const TensorInput first = declared.all.read("inputs"), second = declared.all.read("inputs");
  CHECK(first.id == declared.inputs);
  CHECK(second.id == declared.inputs);
  CHECK(first.reader != second.reader);
  CHECK(declared.all[declared.inputs].readers == 2);
  CHECK(declared.all[declared.score].readers == 0);
}

TEST_CASE("each example has numbers of its own, and those of the batch are the same for all") {
  const Declared declared;
  Tensors tensors;
  tensors.open(declared.all, 3);
  TensorPlace& inputs = tensors[declared.inputs];
  for (const std::size_t b : {0, 1, 2}) {
    CHECK(on_a_line(inputs.at(b)));
    CHECK(on_a_line(inputs.d_at(b)));
    CHECK(inputs.at(b) == inputs.values + b * 32);
    CHECK(tensors[declared.pairs].at(b) == tensors[declared.pairs].values + b * 6);
    // At the front of the others' gradients.
    CHECK(tensors[declared.pairs].d_at(b) == inputs.d_at(b));
  }
  CHECK(tensors[declared.common].gradient == nullptr);
  // Everything can be written, and is still there when it has been.
  float number = 0;
  const auto each = [&](auto visit) {
    for (const TensorId id : {declared.pairs, declared.inputs, declared.score, declared.common}) {
      const Tensor& tensor = declared.all[id];
      const std::size_t rows = tensor.per == Tensor::Per::kBatch ? 1 : 3;
      for (std::size_t b = 0; b < rows; ++b) {
        for (std::size_t i = 0; i < tensor.size; ++i) {
          visit(tensors[id].at(b)[i], ++number);
          if (tensor.gradient) visit(tensors[id].d_at(b)[i], ++number);
        }
      }
    }
  };
  each([](float& value, float n) { value = n; });
  number = 0;
  each([](float value, float n) { CHECK(value == n); });
}

TEST_CASE("room grows with the batch and with the fields") {
  Declared declared;
  Tensors tensors;
  tensors.open(declared.all, 1);
  declared.all[declared.inputs].size = 33;
  tensors.open(declared.all, 5);
  TensorPlace& inputs = tensors[declared.inputs];
  CHECK(inputs.stride == 48);
  std::fill_n(inputs.values, 5 * inputs.stride, 1.0f);
  std::fill_n(inputs.gradient, 5 * inputs.stride, 1.0f);
  CHECK(tensors[declared.pairs].d_stride == 48);
}

TEST_CASE("the tensors of an example lie in those of several, but for the batch's") {
  const Declared declared;
  Tensors all, one;
  all.open(declared.all, 3);
  one.open_in(all, declared.all, 2);
  for (const TensorId id : {declared.pairs, declared.inputs, declared.score}) {
    CHECK(one[id].at(0) == all[id].at(2));
    CHECK(one[id].d_at(0) == all[id].d_at(2));
  }
  CHECK(one[declared.common].values != all[declared.common].values);
  one[declared.common].values[4] = 7;
}

TEST_CASE("the gradients of several readers add up, whatever was there before") {
  Declared declared;
  const TensorInput readers[] = {declared.all.read("score"), declared.all.read("score"),
                                 declared.all.read("score")};
  Tensors tensors;
  tensors.open(declared.all, 2);
  for (const float round : {1.0f, 2.0f}) {
    for (std::size_t r = 3; r-- > 0;) {  // the way back
      float* const d = tensors.d_of_reader(readers[r], 2);
      for (const std::size_t b : {0, 1}) {
        d[b] = round * static_cast<float>((b + 1) * (r == 2 ? 100 : r == 1 ? 10 : 1));
      }
      tensors.add_d_of_reader(readers[r], 2);
    }
    CHECK(tensors[declared.score].gradient[0] == round * 111);
    CHECK(tensors[declared.score].gradient[1] == round * 222);
  }
}

}  // namespace
}  // namespace leveret::tape
