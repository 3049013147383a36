// --tower and --embedding_dim: what they take, what is stored, and what is refused.
#include "spec/tower_text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "net/tower_kinds.h"
#include "spec/entries.h"
#include "spec/json.h"

namespace leveret::spec {
namespace {

using Json = nlohmann::ordered_json;

Spec with_towers(const std::string& text) {
  Spec spec;
  spec.embedding_dim = 8;
  spec.features.fields = {{"A"}, {"B", "C"}};
  set_towers(spec, text);
  return spec;
}

TEST_CASE("a tower's text is what it takes back, with its defaults said") {
  const std::pair<const char*, const char*> texts[] = {
      {"mlp", "mlp:hidden=64+32"},
      {"mlp:hidden=5", "mlp:hidden=5"},
      {"mlp:hidden=none", "mlp:hidden=none"},
      {"fm", "fm:pairs=fields"},
      {"fm:pairs=all", "fm:pairs=all"},
      {"fwfm", "fwfm"},
      {"cross", "cross:layers=3,hidden=none"},
      {"cross:layers=1,hidden=7+7", "cross:layers=1,hidden=7+7"},
      {"cross2:rank=3", "cross2:layers=2,rank=3,hidden=none"},
      {"fm  mlp:hidden=4", "fm:pairs=fields mlp:hidden=4"},
      {"fwfm:loss=own", "fwfm:loss=own"},
      {"mlp:loss=joint,hidden=4", "mlp:hidden=4"},
      {"cross2:loss=own", "cross2:layers=2,rank=16,hidden=none,loss=own"},
      {"mlp:hidden=3,in=pairs", "mlp:in=pairs,hidden=3"},
      {"mlp:in=pairs+embeddings", "mlp:in=embeddings+pairs,hidden=64+32"},
      {"mlp:in=merged fm", "mlp:in=merged,hidden=64+32 fm:pairs=fields"},
      {"mlp:in=embeddings", "mlp:hidden=64+32"},
      {"autoint", "autoint:layers=2,heads=2,dim=8,hidden=none"},
      {"autoint:dim=3,heads=1", "autoint:layers=2,heads=1,dim=3,hidden=none"},
      {"dot", "dot:keep=embeddings,hidden=64+32"},
      {"dot:in=B+A", "dot:in=B+A,keep=embeddings,hidden=64+32"},
      {"dot:hidden=none,keep=products", "dot:keep=products,hidden=none"},
      {"dhen",
       "dhen:layers=1,modules=dot+linear,tokens=16,ensemble=sum,shortcut=yes,norm=yes,heads="
       "2,"
       "width=64,filters=4,experts=4,top=2,hidden=none"},
      {"dhen:layers=2,modules=cross+dot/linear,norm=no,ensemble=concat",
       "dhen:layers=2,modules=cross+dot/"
       "linear,tokens=16,ensemble=concat,shortcut=yes,norm=no,heads=2,"
       "width=64,filters=4,experts=4,top=2,hidden=none"},
      {"none", "none"},
      {"", "none"},
  };
  for (const auto& [text, canonical] : texts) {
    INFO(text);
    const Spec spec = with_towers(text);
    CHECK(get_towers(spec) == canonical);
    const Spec again = with_towers(canonical);
    CHECK(again.more_towers == spec.more_towers);
    const Json json = to_json(spec);
    CHECK(json.contains("tower") == !spec.more_towers.empty());
    CHECK(spec_from_json(json).more_towers == spec.more_towers);
    CHECK(spec_from_json(json).embedding_dim == 8);
  }
}

TEST_CASE("towers are called by kind and place, and setting them again replaces them") {
  Spec spec = with_towers("fm mlp fm");
  REQUIRE(spec.more_towers.size() == 3);
  CHECK(spec.more_towers[0].name == "fm_1");
  CHECK(spec.more_towers[1].name == "mlp_2");
  CHECK(spec.more_towers[2].name == "fm_3");
  set_towers(spec, "cross");
  REQUIRE(spec.more_towers.size() == 1);
  CHECK(spec.more_towers[0].name == "cross_1");
}

TEST_CASE("a tower that cannot be is refused by what is wrong") {
  const std::pair<const char*, const char*> texts[] = {
      {"dnn", "mlp, fm, fwfm, cross, cross2, autoint, dot or dhen"},
      {"fm:hidden=4", "pairs=fields or all, loss=joint or own behind fm"},
      {"fm:loss=both", "loss=joint or loss=own"},
      {"mlp:rank=4", "hidden=N+N"},
      {"mlp:hidden=0", "from 1 to 8192"},
      {"mlp:hidden=4+", "from 1 to 8192"},
      {"mlp:", "hidden=N+N"},
      {"cross:layers=17", "from 1 to 16"},
      {"cross:rank=3", "layers=N"},
      {"cross2:rank=-3", "from 1 to 1024"},
      {"cross2:layers", "from 1 to 16"},
      {"mlp:in=rows", "in=embeddings, merged, pairs or numbers"},
      {"fm:pairs=1", "pairs=fields or all"},
      {"dot:in=", "in=NS+NS, namespaces that --field has"},
      {"autoint:in=A++B", "in=NS+NS, namespaces that --field has"},
      {"fm:in=pairs", "loss=joint or own behind fm"},
      {"mlp:in=pairs+pairs", "or several joined by +"},
      {"mlp:in=pairs+rows", "in=embeddings, merged, pairs or numbers, or several joined by +"},
      {"mlp:hidden=1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1", "at most 16"},
      {"fm fm fm fm fm fm fm fm fm", "at most 8"},
  };
  for (const auto& [text, expected] : texts) {
    INFO(text);
    CHECK_THROWS_WITH(with_towers(text), Catch::Contains(expected) && Catch::Contains("--tower"));
  }
}

TEST_CASE("combinations that cannot be are refused by name") {
  Spec without = with_towers("fwfm");
  without.embedding_dim = 0;
  CHECK_THROWS_WITH(check_spec(without), Catch::Contains("--embedding_dim"));
  Spec one = with_towers("fwfm:loss=own");
  CHECK_NOTHROW(check_spec(one));
  one.heads = Heads::kOne;
  CHECK_THROWS_WITH(check_spec(one), Catch::Contains("--heads mixed"));
  CHECK_THROWS_WITH(check_spec(with_towers("mlp:in=pairs,loss=own")), Catch::Contains("loss=own"));
  for (const char* const text : {"mlp:in=pairs", "mlp:in=merged"}) {
    Spec no_pairs = with_towers(text);
    CHECK_NOTHROW(check_spec(no_pairs));
    no_pairs.ffm_k = 0;
    CHECK_THROWS_WITH(check_spec(no_pairs), Catch::Contains("--ffm_k"));
  }
  Spec groups = with_towers("cross");
  groups.nn_batch_size = 4;
  CHECK_THROWS_WITH(check_spec(groups), Catch::Contains("--nn_batch_size"));
}

TEST_CASE("the page of towers has each kind with each of its keys, and so has help") {
  const std::string page = towers_page(), help = towers_help();
  for (const block::TowerKind* kind : net::tower_kinds()) {
    INFO(kind->word);
    const std::size_t at = page.find(std::string("\n  ") + kind->word + " ");
    REQUIRE(at != std::string::npos);
    CHECK(help.find(kind->word) != std::string::npos);
    for (const block::TowerKey& key : kind->keys) {
      CHECK(page.find(std::string(key.name) + "=" + key.fallback, at) != std::string::npos);
    }
  }
}

TEST_CASE("a model without embeddings has today's header") {
  const Json json = to_json(Spec{});
  for (const char* key : {"embedding_dim", "pool", "tower"}) CHECK_FALSE(json.contains(key));
}

TEST_CASE("a tower in a header that this program does not know is refused") {
  Json json = to_json(with_towers("cross2:layers=1,rank=2,hidden=3"));
  CHECK_NOTHROW(spec_from_json(json));
  for (const char* const bad :
       {"cross3", "cross2:layers=99", "cross2:in=pairs", "cross2:layers=1,depth=2", "fm:pairs=two",
        "fm:pairs=", "\xc4\x80"}) {
    INFO(bad);
    json["tower"] = bad;
    CHECK_THROWS_AS(spec_from_json(json), std::runtime_error);
  }
  json["tower"] = Json::array({"fm"});
  CHECK_THROWS(spec_from_json(json));
}

}  // namespace
}  // namespace leveret::spec
