/// The list of models that tests go through.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "spec/optimizer.h"
#include "spec/spec.h"
#include "spec/tower_text.h"
#include "text/parser.h"

namespace leveret::model {

struct NamedSpec {
  const char* name;
  Spec spec;
};

/// For a parser that reads the numbers that models of this spec read, and has no other line for
/// bad.
inline text::ParserOptions reading_numbers(const Spec& spec) {
  text::ParserOptions options;
  options.numbers = feature::number_namespaces(spec.features);
  return options;
}

/// An FM with vectors of d, beside whatever else there is.
inline void set_fm(Spec& spec, std::uint32_t d) {
  spec.embedding_dim = d;
  spec::set_towers(spec, "fm:pairs=all");
}

/// Whether shards learn what one process learns, but for rounding: Adam makes steps of gradients of
/// the FFM's rows that are nothing but rounding. No shard knows all of a gradient to be clipped.
inline bool is_for_shards(const Spec& spec) {
  if (spec.nn_clip > 0) return false;
  return spec.ffm_k == 0 || spec.rows.rule != rules::kAdam;
}

/// Whether a difference of rounding grows with each batch: norms of tokens divide by a deviation
/// that is next to nothing at first.
inline bool amplifies_rounding(const Spec& spec) {
  return std::ranges::any_of(spec.more_towers, [](const spec::TowerSpec& tower) {
    const block::Tower made{.name = {}, .inputs = {}, .kind = tower.kind, .options = tower.options};
    const std::vector<std::uint32_t> norm = made.numbers("norm");
    return !norm.empty() && norm[0] == 0;
  });
}

/// Most examples that learn together: a run is cut between them, which is at multiples of this, or
/// is another run.
inline std::size_t together(const Spec& spec) {
  return std::max(spec.batch_size, spec.nn_batch_size);
}

enum class Which {
  kFew,  ///< what every change is tested with: all that the others have, each at least once
  kAll,  ///< that, and more of what meets in a model
};
/// LEVERET_TEST_SPECS=all in the environment, as scripts/test --long has it: all.
inline Which which_specs() {
  const char* const said = std::getenv("LEVERET_TEST_SPECS");
  return said != nullptr && std::string_view(said) == "all" ? Which::kAll : Which::kFew;
}

/// One of every kind of model, and of what decides how it learns: gradients, resuming, threads,
/// batches, exports and contexts are tested with all of them, so that each of these meets each
/// option and each block. What is added by `seldom` has nothing of its own, and is tested in the
/// long tier: specs_to_test_test.cc asks for a model with each block among the few, and one
/// without, and for each value of an option that any of the others has.
inline std::vector<NamedSpec> specs_to_test(Which which = which_specs()) {
  std::vector<NamedSpec> all{{"default", {}}};
  Spec left_out;
  const auto add = [&](const char* name) -> Spec& {
    all.push_back({name, {}});
    return all.back().spec;
  };
  const auto seldom = [&](const char* name) -> Spec& {
    if (which == Which::kAll) return add(name);
    return left_out = {};
  };
  seldom("heads one").heads = spec::Heads::kOne;
  Spec& ftrl = add("ftrl");
  ftrl.heads = spec::Heads::kOne;
  spec::set_optimizer(ftrl, "ftrl");
  ftrl.l1 = 0.1f;
  Spec& mixed_ftrl = add("ftrl, heads mixed");
  spec::set_optimizer(mixed_ftrl, "ftrl");
  mixed_ftrl.l1 = 0.1f;
  add("no fast head").fast_head = false;
  Spec& hashed = add("hashed");
  hashed.bit_precision = 12;
  Spec& hashed_one = add("hashed, heads one");
  hashed_one.heads = spec::Heads::kOne;
  hashed_one.bit_precision = 7;
  Spec& hashed_ftrl = seldom("hashed, ftrl");
  hashed_ftrl.heads = spec::Heads::kOne;
  spec::set_optimizer(hashed_ftrl, "ftrl");
  hashed_ftrl.bit_precision = 7;
  Spec& batch = seldom("batch of 4");
  batch.batch_size = 4;
  batch.batch_warmup = 5;
  Spec& at_once = add("batch of 4, at once");
  at_once.batch_size = 4;
  at_once.batch_warmup = 0;
  at_once.per_example_updates = false;
  Spec& groups = add("groups of 4");
  groups.nn_batch_size = 4;
  groups.nn_clip = 0.05f;
  seldom("k of 5").ffm_k = 5;
  Spec& adam = seldom("adam");
  spec::set_optimizer(adam, "adam");
  adam.batch_size = 4;
  adam.batch_warmup = 0;
  adam.hidden = {8, 4};
  Spec& one_by_one = add("adam, one by one");
  spec::set_optimizer(one_by_one, "adam");
  one_by_one.nn_warmup = 50;
  one_by_one.nn_l2 = 0.01f;
  Spec& apart = seldom("a rule for each part");
  apart.heads = spec::Heads::kOne;
  spec::set_optimizer(apart, "linear=ftrl,rows=sgd,layers=adam");
  apart.nn.rate = .002f;
  Spec& mixed_apart = seldom("a rule for each part, mixed");
  spec::set_optimizer(mixed_apart, "linear=ftrl,rows=sgd,layers=adam");
  mixed_apart.batch_size = 4;
  seldom("linear").ffm_k = 0;
  seldom("ffm").hidden = {};
  Spec& fm = seldom("fm");
  fm.ffm_k = 0;
  set_fm(fm, 5);
  Spec& fm_one = add("fm, heads one, 32 bits");
  fm_one.heads = spec::Heads::kOne;
  fm_one.ffm_k = 0;
  set_fm(fm_one, 4);
  fm_one.row_bits = 32;
  fm_one.adagrad_slice = false;
  Spec& towers = add("three towers, a rule for each part");
  towers.hidden = {6};
  towers.embedding_dim = 3;
  spec::set_towers(towers, "mlp:in=merged,hidden=4+3 mlp:in=embeddings+merged+pairs,hidden=5");
  spec::set_optimizer(towers, "linear=ftrl,rows=sgd,layers=adam");
  towers.nn.rate = .002f;
  Spec& towers_one = add("a tower over pairs alone, ffm by adam, heads one, batch of 4");
  spec::set_optimizer(towers_one, "rows=adam");
  towers_one.rows.rate = .01f;
  towers_one.heads = spec::Heads::kOne;
  towers_one.hidden = {};
  spec::set_towers(towers_one, "mlp:in=pairs,hidden=5");
  towers_one.batch_size = 4;
  towers_one.batch_warmup = 0;
  Spec& wide_deep = seldom("wide and deep");
  wide_deep.heads = spec::Heads::kOne;
  wide_deep.ffm_k = 0;
  wide_deep.embedding_dim = 5;
  spec::set_towers(wide_deep, "mlp:hidden=6+4 fwfm mlp:hidden=none");
  Spec& deepfm = add("deepfm, mixed, batch of 4");
  deepfm.ffm_k = 0;
  deepfm.embedding_dim = 4;
  deepfm.pool = block::Pool::kMean;
  spec::set_towers(deepfm, "fm mlp:hidden=6");
  deepfm.batch_size = 4;
  deepfm.batch_warmup = 0;
  Spec& dcn = add("dcn, a rule for each part");
  dcn.heads = spec::Heads::kOne;
  dcn.ffm_k = 0;
  dcn.embedding_dim = 3;
  spec::set_towers(dcn, "cross:layers=2");
  spec::set_optimizer(dcn, "linear=ftrl,rows=adam,layers=adam");
  dcn.batch_size = 4;
  dcn.batch_warmup = 0;
  Spec& dcnv2 = add("dcnv2, stacked");
  dcnv2.heads = spec::Heads::kOne;
  dcnv2.ffm_k = 0;
  dcnv2.embedding_dim = 2;
  spec::set_towers(dcnv2, "cross2:layers=2,rank=3,hidden=5");
  Spec& autoint = add("autoint, one head");
  autoint.heads = spec::Heads::kOne;
  autoint.ffm_k = 0;
  autoint.embedding_dim = 3;
  spec::set_towers(autoint, "autoint:layers=2,heads=2,dim=3,hidden=4");
  Spec& autoint_batch = seldom("autoint beside the default, batch of 4");
  autoint_batch.embedding_dim = 5;
  spec::set_towers(autoint_batch, "autoint:layers=1,heads=3,dim=2 mlp:hidden=3");
  autoint_batch.batch_size = 4;
  autoint_batch.batch_warmup = 0;
  Spec& dot = add("inner products, batch of 4");
  dot.ffm_k = 0;
  dot.embedding_dim = 5;
  spec::set_towers(dot, "dot:hidden=4 dot:keep=products,hidden=none,loss=own");
  dot.batch_size = 4;
  dot.batch_warmup = 0;
  Spec& dhen = add("dhen of all modules but experts, batch of 4");
  dhen.ffm_k = 0;
  dhen.embedding_dim = 4;
  spec::set_towers(dhen,
                   "dhen:layers=2,modules=attention+linear+cross/convolution+dot+product+mlp,"
                   "tokens=3,ensemble=weighted,width=5,filters=2");
  dhen.batch_size = 4;
  dhen.batch_warmup = 0;
  Spec& dhen_one = add("dhen, one head");
  dhen_one.heads = spec::Heads::kOne;
  dhen_one.ffm_k = 0;
  dhen_one.embedding_dim = 3;
  spec::set_towers(dhen_one,
                   "dhen:layers=2,modules=cross+experts,experts=2,width=3,tokens=2,ensemble=concat,"
                   "norm=no,hidden=4");
  // Random lines have values in all namespaces; one that is a number has its first one.
  Spec& numbers = add("default with a number");
  numbers.features.numeric = {"D"};
  Spec& dhen_numbers = add("dhen, mlp, dot and autoint with numbers, one head, batch of 4");
  dhen_numbers.heads = spec::Heads::kOne;
  dhen_numbers.ffm_k = 0;
  dhen_numbers.embedding_dim = 3;
  dhen_numbers.features.numeric = {"D", "A"};
  spec::set_towers(dhen_numbers,
                   "dhen:modules=attention+linear+cross+convolution+dot,heads=1,layers=1,width=4,"
                   "filters=2,tokens=2 mlp:hidden=4 dot:keep=products,hidden=3 dot:hidden=none "
                   "autoint:layers=1,heads=1,dim=3");
  dhen_numbers.batch_size = 4;
  dhen_numbers.batch_warmup = 0;
  Spec& chosen = add("dot, autoint and dhen over some fields, one head, batch of 4");
  chosen.heads = spec::Heads::kOne;
  chosen.ffm_k = 0;
  chosen.embedding_dim = 3;
  chosen.features.fields = {{"A"}, {"B"}, {"D"}, {"E"}, {"C"}};
  spec::set_towers(chosen,
                   "dot:in=A+C,hidden=3 autoint:in=D,layers=1,heads=1,dim=2 "
                   "dhen:in=E+A,modules=linear,tokens=2");
  chosen.batch_size = 4;
  chosen.batch_warmup = 0;
  Spec& all_towers = add("default with fwfm, dcnv2 and dcn");
  all_towers.embedding_dim = 8;
  spec::set_towers(
      all_towers,
      "fwfm fm:loss=own mlp:hidden=3,loss=own cross2:layers=1,rank=2 cross:layers=1,hidden=4");
  Spec& both = seldom("fm beside ffm");
  both.ffm_k = 3;
  set_fm(both, 8);
  Spec& both_batch = seldom("fm beside ffm, batch of 4");
  set_fm(both_batch, 2);
  both_batch.batch_size = 4;
  both_batch.batch_warmup = 3;
  Spec& eight = add("rows of 8 bits");
  eight.row_bits = 8;
  Spec& four = add("rows of 4 bits, fm beside ffm, batch of 4");
  four.row_bits = 4;
  four.ffm_k = 1;
  set_fm(four, 3);
  four.batch_size = 4;
  four.batch_warmup = 0;
  Spec& twelve = add("rows of 12 bits to the nearest, fwfm beside ffm");
  twelve.row_bits = 12;
  twelve.rounds_to_nearest = true;
  twelve.embedding_dim = 5;
  spec::set_towers(twelve, "fwfm");
  seldom("rows of 16 bits to the nearest").rounds_to_nearest = true;
  Spec& float_sums = add("rows of 16 bits with accumulators of 32");
  float_sums.state_bits = 32;
  Spec& short_sums = add("rows of 32 bits with accumulators of 16, fm beside ffm, batch of 4");
  short_sums.row_bits = 32;
  short_sums.state_bits = 16;
  set_fm(short_sums, 4);
  short_sums.batch_size = 4;
  short_sums.batch_warmup = 0;
  Spec& short_each = seldom("rows of 8 bits with an accumulator of 16 for each weight, embeddings");
  short_each.row_bits = 8;
  short_each.state_bits = 16;
  short_each.adagrad_slice = false;
  short_each.embedding_dim = 5;
  spec::set_towers(short_each, "fwfm");
  add("features expire").expire = 20;
  Spec& expiring = seldom("features expire, fm, batch of 4");
  expiring.expire = 25;
  expiring.ffm_k = 0;
  set_fm(expiring, 3);
  expiring.admit = 1;
  expiring.batch_size = 4;
  expiring.batch_warmup = 0;
  Spec& linear = add("linear with interactions");
  linear.ffm_k = 0;
  linear.features.interactions = {{"A", "B"}, {":", ":"}};
  Spec& fields = add("fields");
  fields.features.fields = {{"A", "B"}, {"C"}, {"B", "D"}};
  fields.features.linear_all = false;
  fields.features.linear = {"A"};
  fields.adagrad_slice = false;
  fields.row_bits = 32;
  fields.admit = 1;
  fields.ffm_k = 3;
  Spec& sgd = add("sgd");
  spec::set_optimizer(sgd, "sgd");
  sgd.admit = 3;
  sgd.constant = false;
  sgd.hidden = {};
  return all;
}

}  // namespace leveret::model
