#include <catch2/catch.hpp>
#include <limits>

#include "train/held_out.h"

using namespace leveret;
using train::BestPass;
using train::PassJudge;

namespace {

train::HeldOutFigures loss_of(double loss) {
  train::HeldOutFigures held_out;
  held_out.figures.logloss = loss;
  held_out.has_both = true;
  return held_out;
}

}  // namespace

TEST_CASE("the pass with the least loss is the best, and some without a gain are enough") {
  PassJudge judge({.period = 10}, 2);
  CHECK(judge.is_best(1, loss_of(0.5)));
  CHECK(judge.is_best(2, loss_of(0.4)));
  CHECK_FALSE(judge.is_best(3, loss_of(0.4)));
  CHECK_FALSE(judge.is_enough());
  CHECK(judge.is_best(4, loss_of(0.3)));
  CHECK_FALSE(judge.is_best(5, loss_of(0.35)));
  CHECK_FALSE(judge.is_enough());
  CHECK_FALSE(judge.is_best(6, loss_of(0.31)));
  CHECK(judge.is_enough());
  CHECK(judge.best() == BestPass{10, 4, 0.3});
  CHECK(judge.passes() == 6);
}

TEST_CASE("a run that is gone on with judges as if nothing had ended it") {
  PassJudge judge({10, 2, 0.4}, 2);
  CHECK_FALSE(judge.is_best(3, loss_of(0.41)));
  CHECK_FALSE(judge.is_enough());
  CHECK_FALSE(judge.is_best(4, loss_of(0.41)));
  CHECK(judge.is_enough());
}

TEST_CASE("figures that say nothing make no pass the best, and end nothing") {
  PassJudge judge({.period = 10}, 1);
  train::HeldOutFigures one_class = loss_of(0.1), nothing = loss_of(0.1);
  one_class.has_both = false;
  nothing.figures.logloss = std::numeric_limits<double>::quiet_NaN();
  train::HeldOutFigures broken = loss_of(0.1);
  broken.figures.not_finite = 1;
  for (const auto& held_out : {one_class, nothing, broken}) {
    CHECK_FALSE(judge.is_best(1, held_out));
    CHECK_FALSE(judge.is_enough());
  }
  CHECK(judge.best().pass == 0);
}
