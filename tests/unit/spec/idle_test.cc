#include "spec/idle.h"

#include <catch2/catch.hpp>
#include <string_view>

#include "spec/entries.h"
#include "spec/optimizer.h"
#include "spec/tower_text.h"

using namespace leveret::spec;

TEST_CASE("no option of the default model is idle but those of FTRL, batches and embeddings") {
  for (const SpecEntry& entry : spec_entries()) {
    const std::string_view name = entry.name;
    const bool of_others =
        name == "l1" || name == "ftrl_beta" || name == "batch_warmup" || name == "pool";
    CHECK((idle_without(name, Spec{}) != nullptr) == of_others);
  }
}

TEST_CASE("options of parts that a model lacks are idle, that they lack it is none") {
  Spec linear;
  linear.ffm_k = 0;
  for (const char* name :
       {"hidden", "admit", "adagrad", "state_bits", "ffm_learning_rate", "nn_power_t"}) {
    CHECK(idle_without(name, linear) != nullptr);
  }
  for (const char* name : {"ffm_k", "learning_rate", "seed"}) {
    CHECK(idle_without(name, linear) == nullptr);
  }
  linear.embedding_dim = 4;
  set_towers(linear, "fm:pairs=all");
  CHECK(idle_without("hidden", linear) != nullptr);  // a model without layers gets none later
  CHECK(idle_without("nn_power_t", linear) != nullptr);
  for (const char* name : {"admit", "adagrad", "state_bits", "ffm_learning_rate", "row_bits"}) {
    CHECK(idle_without(name, linear) == nullptr);
  }
  Spec shallow;
  shallow.hidden.clear();
  CHECK(idle_without("nn_learning_rate", shallow) != nullptr);
  CHECK(idle_without("hidden", shallow) == nullptr);
  Spec one;
  CHECK(idle_without("fast_head", one) == nullptr);
  one.heads = Heads::kOne;
  CHECK(idle_without("fast_head", one) != nullptr);
  Spec batch;
  batch.batch_warmup = 0;
  CHECK(idle_without("batch_warmup", batch) == nullptr);
  batch.batch_warmup = 64;
  CHECK(idle_without("batch_warmup", batch) != nullptr);
  batch.batch_size = 2;
  CHECK(idle_without("batch_warmup", batch) == nullptr);
  Spec embeddings;
  embeddings.embedding_dim = 4;
  CHECK(idle_without("embedding_dim", embeddings) != nullptr);
  set_towers(embeddings, "fm");
  CHECK(idle_without("embedding_dim", embeddings) == nullptr);
  CHECK(idle_without("pool", embeddings) == nullptr);
  embeddings.ffm_k = 0;
  CHECK(idle_without("ffm_learning_rate", embeddings) == nullptr);
  CHECK(idle_without("hidden", embeddings) != nullptr);
  CHECK(idle_without("nn_power_t", embeddings) != nullptr);
  CHECK(idle_without("nn_learning_rate", embeddings) != nullptr);
  set_towers(embeddings, "fwfm");  // which has r
  CHECK(idle_without("nn_power_t", embeddings) == nullptr);
  CHECK(idle_without("nn_init_acc_gradient", embeddings) == nullptr);
  CHECK(idle_without("nn_batch_size", embeddings) != nullptr);
  set_towers(embeddings, "mlp");
  CHECK(idle_without("nn_learning_rate", embeddings) == nullptr);
  Spec sgd;
  set_optimizer(sgd, "sgd");
  CHECK(idle_without("ffm_power_t", sgd) != nullptr);
  CHECK(idle_without("ffm_learning_rate", sgd) == nullptr);
  Spec apart;
  set_optimizer(apart, "rows=sgd,layers=adam");
  CHECK(idle_without("power_t", apart) == nullptr);
  CHECK(idle_without("ffm_power_t", apart) != nullptr);
  CHECK(idle_without("adagrad", apart) != nullptr);
  CHECK(idle_without("state_bits", apart) != nullptr);
  CHECK(idle_without("nn_init_acc_gradient", apart) != nullptr);
  CHECK(idle_without("l1", apart) != nullptr);
}
