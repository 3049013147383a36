// What learning takes beside the tables is known from the declarations, and refused where it is too
// much.
#include "model/learning_memory.h"

#include <catch2/catch.hpp>

#include "net/make_blocks.h"
#include "random_model.h"
#include "spec/tower_text.h"

namespace leveret::model {
namespace {

TEST_CASE("the memory of arrays is what models have, and that of a batch what its tape has") {
  for (const NamedSpec& kind : specs_to_test()) {
    INFO(kind.name);
    Model model(kind.spec, kTestMemory);
    Sample sample(random_lines(40, LineShape{}, 3), reading_numbers(kind.spec));
    const std::size_t examples = together(kind.spec);
    const feature::FeatureBatch batch = sample.batch(model, 0, examples);
    const LearningMemory memory = learning_memory(model.parameters().declared(), model.spec());
    std::uint64_t floats = 0;
    model.parameters().for_each([&]<class T>(const tape::ArrayValues<T>& values) {
      if (!values.array.in_scalars()) floats += values.all().size();
    });
    CHECK(memory.arrays == floats * sizeof(float));
    // The tape's tensors, one behind the other.
    Trainer trainer(model, kernels::active());
    trainer.forward(model, batch);
    std::uint64_t on_tape = 0;
    for (const tape::Tensor& tensor : model.parameters().declared().tensors) {
      const auto id = model.parameters().declared().find_tensor(tensor.name);
      const bool of_batch = tensor.per == tape::Tensor::Per::kBatch;
      if (trainer.tape[id].values == nullptr) continue;
      on_tape += tensor.stride() * (of_batch ? 1 : examples);
    }
    CHECK(memory.batch >= on_tape * sizeof(float));
    CHECK(memory.batch <= 3 * on_tape * sizeof(float));
  }
}

TEST_CASE("a model whose layers do not fit is refused, by the name of its largest tower") {
  Spec spec;
  spec.embedding_dim = 8;
  spec.batch_size = 4096;
  spec::set_towers(spec, "mlp dhen:layers=4,modules=experts,experts=16,tokens=64");
  const auto check = [&](std::uint64_t megabytes, std::uint32_t fields, unsigned threads) {
    Model(spec, megabytes << 20).check_memory(fields, threads);
  };
  CHECK_THROWS_WITH(check(100, 1, 1), Catch::Contains("most by --tower dhen") &&
                                          Catch::Contains("for a batch of 4096") &&
                                          Catch::Contains("--max_memory is 100 MB"));
  CHECK_NOTHROW(check(4096, 1, 1));
  CHECK_THROWS_WITH(check(4096, 1, 64), Catch::Contains("64 threads"));
  Spec wide;
  wide.hidden = {8192};
  const auto fields = [&](std::uint32_t count) { Model(wide, 1 << 20).check_memory(count, 1); };
  CHECK_NOTHROW(fields(3));
  CHECK_THROWS_WITH(fields(20),
                    Catch::Contains("most by --hidden") && Catch::Contains("20 fields"));
  // What is in a file is read, however much it is.
  Model big(wide, 1 << 20);
  CHECK_NOTHROW(big.fit(20));
  // A line is asked for before it is met.
  std::string line = "1";
  for (char c = 'a'; c < 'a' + 20; ++c) line += std::string(" |") + c + " x";
  Sample sample(line + "\n");
  Model fresh(wide, 1 << 20);
  CHECK_THROWS_WITH(fresh.check_growth(sample.chunk, 0, 1), Catch::Contains("20 fields"));
  CHECK(fresh.features().field_count() == 0);
  // A little always fits.
  CHECK_NOTHROW(Model(Spec{}, 1).check_memory(3, 1));
}

}  // namespace
}  // namespace leveret::model
