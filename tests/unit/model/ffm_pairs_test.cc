// The pairs that a shard makes, where it has all of them, beside those of the FFM.
#include "block/ffm_pairs.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "block/ffm_block.h"
#include "find_block.h"
#include "random_model.h"

namespace leveret::model {
namespace {

struct Lines {
  const char* name;
  LineShape shape;
  bool in_place;  ///< whether all of them are such as kernels read in place
};

/// The sums of the gradients of the rows of example b, one behind the other.
template <class Add>
std::vector<float> gradients_of(const Tape& tape, std::size_t b, std::size_t floats, Add add) {
  const std::uint32_t first = tape.field_begin(b), end = tape.field_begin(b + 1);
  std::vector<float> all((end - first) * floats);
  std::vector<float*> sums;
  for (std::uint32_t i = first; i < end; ++i) {
    sums.push_back(tape.rows[i] != nullptr ? all.data() + (i - first) * floats : nullptr);
  }
  add(sums.data());
  return all;
}

void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-5));
}

TEST_CASE("all pairs by a list are those of the FFM, in place and one by one") {
  LineShape one_each;
  one_each.fields = 7;
  one_each.features = 1;
  one_each.missing = 10;
  const Lines lines[] = {{"one feature in each field", one_each, true}, {"any", {}, false}};
  for (const Lines& of : lines) {
    for (const std::uint32_t k : {3, 4}) {
      for (const bool values : {false, true}) {
        INFO(of.name << ", k " << k << ", values " << values);
        Spec spec;
        spec.ffm_k = k;
        LineShape shape = of.shape;
        shape.values = values;
        Model model(spec, kTestMemory);
        Sample sample(random_lines(24, shape, 3));
        const feature::FeatureBatch batch = sample.batch(model);
        randomise(model, batch, 4);
        Trainer trainer(model, kernels::active());
        trainer.tape.in_batches = true;
        trainer.gradients(model, batch);
        const OneBlock<block::FfmBlock> block(model);
        const block::FfmBlock& ffm = *block;

        const std::uint32_t fields = model.parameters().layout.fields;
        std::vector<std::uint32_t> opposite(fields);
        std::iota(opposite.begin(), opposite.end(), 0u);
        block::FfmPairs pairs(kernels::active(), model.config(), ffm.part());
        pairs.set(std::vector(fields, opposite));
        block::PairsTape at;
        std::size_t in_place = 0;
        for (std::size_t b = 0; b < batch.size(); ++b) {
          const tape::TensorPlace& tensor = trainer.tape[ffm.pairs()];
          const std::vector<float> d(tensor.d_at(b), tensor.d_at(b) + pairs.pairs().size());
          const float own = trainer.tape[ffm.d_pair()].values[b];
          pairs.gather(trainer.tape, b, at);
          in_place += at.in_place;
          std::vector<float> values_of(pairs.pairs().size());
          const float sum = pairs.forward(trainer.tape, at, values_of.data());
          const std::size_t floats = ffm.floats(model.parameters());
          const std::vector<float> mine =
              gradients_of(trainer.tape, b, floats, [&](float* const* sums) {
                pairs.add_gradients(trainer.tape, b, at, own, d.data(), sums);
              });
          trainer.forward(model, batch);  // the way back has used the pairs' place
          check_near(values_of, {trainer.tape[ffm.pairs()].at(b),
                                 trainer.tape[ffm.pairs()].at(b) + values_of.size()});
          CHECK(sum == Approx(trainer.tape[ffm.pairs_sum()].values[b]).margin(1e-5));
          trainer.gradients(model, batch);
          check_near(mine, gradients_of(trainer.tape, b, floats, [&](float* const* sums) {
                       ffm.add(model.parameters(), trainer.tape, b, sums);
                     }));
        }
        CHECK((in_place == batch.size()) == of.in_place);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::model
