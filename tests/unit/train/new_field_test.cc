// A field that comes late makes the inputs of layers more: weights stay with what they are for.
#include <algorithm>
#include <cmath>

#include "net/tower_kinds.h"
#include "spec/tower_text.h"
#include "train_run.h"

namespace leveret::train {
namespace {

model::LineShape shape_of_three() {
  model::LineShape shape;
  shape.fields = 3;
  return shape;
}

TEST_CASE("a field that comes late leaves what towers have learned of others where it was") {
  const std::string lines = model::random_lines(600, shape_of_three(), 9);
  for (const block::TowerKind* const kind : net::tower_kinds()) {
    // Attention looks at the token of each field, also of one that an example lacks.
    if (kind == &block::kAttentionTower) continue;
    const bool dhen = kind == &block::kDhenTower;
    const std::string tower =
        std::string(kind->word) + (dhen ? ":layers=2,modules=linear+cross+dot+product+mlp+experts" : "");
    INFO(tower);
    spec::Spec spec;
    spec.heads = spec::Heads::kOne;
    spec.ffm_k = 0;
    spec.admit = 1;
    spec.embedding_dim = 3;
    spec::set_towers(spec, tower);
    // Their token is before those of fields.
    if (kind->takes_numbers) spec.features.numeric = {"C"};
    // Of importance 0: nothing is learned of it.
    TrainRun without(spec), with(spec);
    without.learn(lines + "1 0 |A never\n");
    with.learn(lines + "1 0 |Z never\n");
    REQUIRE(with.model.parameters().layout.fields == without.model.parameters().layout.fields + 1);
    const auto expected = without.predict(lines), got = with.predict(lines);
    float most = 0, spread = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      most = std::max(most, std::fabs(got[i] - expected[i]));
      spread = std::max(spread, std::fabs(expected[i] - expected[0]));
    }
    CHECK(spread > 0.1f);
    CHECK(most < 1e-5f);
  }
}

}  // namespace
}  // namespace leveret::train
