// Pairs by a list, where it has all of them, beside those of the FFM.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "block/ffm_block.h"
#include "ffm/pair_engine.h"
#include "find_block.h"
#include "random_model.h"

namespace leveret::model {
namespace {

struct Lines {
  const char* name;
  LineShape shape;
  bool stored;  ///< whether no field of them has several features
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

std::size_t k_of(const Model& model) {
  return model.config().find_rows(block::Rows::Kind::kFfm)->part.k;
}

ffm::RowReader rows_of(const Model& model) {
  const block::Config config = model.config();
  const table::RowPart& part = config.find_rows(block::Rows::Kind::kFfm)->part;
  return {kernels::active(), part.codec, part.k, 0};
}

void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-5));
}

TEST_CASE("all pairs by a list are those of the FFM, of stored rows and of sums") {
  LineShape one_each;
  one_each.fields = 7;
  one_each.features = 1;
  one_each.missing = 10;
  LineShape few = one_each;
  few.missing = 85;
  const Lines lines[] = {{"one feature in each field", one_each, true},
                         {"few fields are there", few, false},
                         {"any", {}, false}};
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
        const ffm::ListedPairs set(kernels::active(), k_of(model), std::vector(fields, opposite));
        const ffm::PairEngine engine(kernels::active(), rows_of(model));
        ffm::ExampleRows at;
        std::size_t stored = 0;
        const tape::TensorId pairs =
            model.parameters().declared().find_tensor(block::FfmBlock::kPairs);
        const tape::TensorId d_pair = model.parameters().declared().find_tensor("ffm.d_pair");
        for (std::size_t b = 0; b < batch.size(); ++b) {
          const tape::TensorPlace& tensor = trainer.tape[pairs];
          const std::vector<float> d(tensor.d_at(b), tensor.d_at(b) + set.pairs().size());
          const float own = trainer.tape[d_pair].values[b];
          std::vector<float> values_of(set.pairs().size());
          const float sum = engine.forward(trainer.tape, b, set, at, values_of.data());
          stored += at.stored;
          const std::size_t floats = ffm.floats(model.parameters());
          const std::vector<float> mine =
              gradients_of(trainer.tape, b, floats, [&](float* const* sums) {
                engine.add_gradients(trainer.tape, b, set, at, own, d.data(), sums);
              });
          check_near(values_of,
                     {trainer.tape[pairs].at(b), trainer.tape[pairs].at(b) + values_of.size()});
          CHECK(sum == Approx(trainer.tape[ffm.pairs_sum()].values[b]).margin(1e-5));
          check_near(mine, gradients_of(trainer.tape, b, floats, [&](float* const* sums) {
                       ffm.add(model.parameters(), trainer.tape, b, sums);
                     }));
        }
        CHECK((stored == batch.size()) == of.stored);
      }
    }
  }
}

}  // namespace
}  // namespace leveret::model
