#include "spec/entries.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "feature/selector.h"
#include "spec/makers.h"
#include "spec/named_models.h"
#include "spec/tower_text.h"
#include "spec/towers.h"

namespace leveret::spec {
namespace {

void set_hidden(Spec& s, const std::string& text) {
  s.hidden.clear();
  if (text == "none" || text == "0") return;
  const bool has_empty = text.empty() || text.front() == ',' || text.back() == ',' ||
                         text.find(",,") != std::string::npos;
  if (has_empty || text.find('+') != std::string::npos) {
    refuse("hidden", text, "widths of layers, joined by commas (128,64), or none");
  }
  for (const std::string& part : feature::split_list(text)) {
    s.hidden.push_back(static_cast<std::uint32_t>(whole_of("hidden", part, 1, 8192)));
  }
  if (s.hidden.size() > 16) refuse("hidden", text, "at most 16 layers");
}

void add_shape(std::vector<SpecEntry>& list) {
  list.push_back(word_entry(
      "heads",
      "mixed: the linear part, the counts and the sum of all parts have a loss each, and their "
      "scores are mixed online; one: one sum with one loss",
      true, {"mixed", "one"}, [](Spec & s) -> auto& { return s.heads; }));
  list.push_back(
      key_of("heads", "fast",
             word_entry(
                 "fast_head",
                 "on: adds a head that learns fast and forgets, for data that drifts; off: "
                 "does not",
                 true, {"off", "on"}, [](Spec & s) -> auto& { return s.fast_head; })));
  list.push_back({"noconstant", "", "", "no constant feature", true, false, false,
                  [](Spec& s, const std::string& t) { s.constant = t == "false"; },
                  [](const Spec& s) { return std::string(s.constant ? "false" : "true"); }});
  list.push_back(number_entry("bit_precision", "-b", "N",
                              "linear weights in 2^N hashed slots; 0: a table that grows",
                              &Spec::bit_precision, 0, 31));
  list.push_back(number_entry("ffm_k", "", "N",
                              "length of an FFM vector; 0: no FFM, and no MLP over it",
                              &Spec::ffm_k, 0, 256));
  list.push_back(number_entry(
      "admit", "", "N",
      "a feature gets its row of vectors when it has been seen N times; 0: two times, and more "
      "where its field has many rows",
      &Spec::admit, 0, 1000000));
  list.push_back(word_entry(
      "adagrad", "accumulators of FFM and embeddings: one per weight, or one per slice of k", true,
      {"weight", "slice"}, [](Spec & s) -> auto& { return s.adagrad_slice; }));
  add_row_codecs(list);
  list.push_back({"hidden", "", "N,…|none", "widths of the MLP's ReLU layers", true, false, false,
                  set_hidden, [](const Spec& s) {
                    return s.hidden.empty() ? std::string("none")
                                            : fmt::format("{}", fmt::join(s.hidden, ","));
                  }});
  SpecEntry width = rate_entry(
      "ffm_init_width", "", "X",
      "first weights of FFM and embeddings are uniform with deviation X / sqrt(k)",
      [](Spec& s) -> float& { return s.ffm_init_width; }, 0, 100);
  width.shape = true;
  list.push_back(width);
  list.push_back(number_entry("seed", "", "N", "seed of first weights and of stochastic rounding",
                              &Spec::seed, 0, 0xffffffff));
}

SpecEntry named_model() {
  SpecEntry entry{
      "model",
      "",
      "NAME",
      "a model of the literature, a short name for some options; other options change it: lr, fm, "
      "fwfm, ffm, deepffm, wide_deep, deepfm, dcn, dcnv2, pnn, dlrm, autoint, moe, dhen (leveret "
      "help models)",
      true,
      false,
      false,
      set_named_model,
      [](const Spec& s) { return s.named; }};
  entry.holds = is_named_model;
  entry.of_line = false;  // by whatever name and options it was made
  return stored_unless("", entry);
}

void add_towers(std::vector<SpecEntry>& list) {
  SpecEntry dim = number_entry(
      "embedding_dim", "", "N",
      "length of the vector of each feature of a field that the towers of --tower share; 0: none",
      &Spec::embedding_dim, 0, 256);
  list.push_back(stored_unless("0", dim));
  SpecEntry pool = word_entry(
      "pool",
      "how the embeddings of several features of a field become one: sum, each times its value; "
      "mean: divided by the sum of |value|",
      true, {"sum", "mean"}, [](Spec & s) -> auto& { return s.pool; });
  list.push_back(stored_unless("sum", key_of("embedding_dim", "pool", pool)));
  static const std::string help = towers_help();
  SpecEntry tower{"tower", "",   "KIND[:key=value,…]", help.c_str(), true,
                  false,   true, set_towers,           get_towers};
  list.push_back(stored_unless("none", tower));
}

}  // namespace

const std::vector<SpecEntry>& spec_entries() {
  static const std::vector<SpecEntry> list = [] {
    std::vector<SpecEntry> entries{named_model()};
    add_features(entries);
    add_shape(entries);
    add_towers(entries);
    add_learning(entries);
    add_forgetting(entries);
    return entries;
  }();
  return list;
}

bool is_stored(const SpecEntry& entry, const Spec& spec) {
  switch (entry.stored) {
    case SpecEntry::Stored::kUnlessAbsent:
      return entry.get(spec) != entry.absent;
    default:
      return true;
  }
}

void check_spec(const Spec& spec) {
  if (spec.batch_size > 1 && spec.nn_batch_size > 1) {
    throw std::runtime_error(
        "--nn_batch_size does not work with --batch_size, which holds for all parts: give "
        "--nn_batch_size 1");
  }
  // What is below a unit would be rounded to 0 on both sides of every pair, and stay there.
  const float first =
      spec.ffm_init_width *
      std::sqrt(3.0f / static_cast<float>(std::max({spec.ffm_k, spec.embedding_dim, 1u})));
  const kernels::Codec codec = spec.weight_codec();
  if (codec.kind == kernels::Codec::Kind::kFixed && spec.ffm_init_width > 0 &&
      first < (codec.is_narrow() ? 1.0f : 2.0f) * codec.unit()) {
    throw std::runtime_error(fmt::format(
        "--ffm_init_width {} is too small for weights of {} bits within {}: use --row_bits "
        "32, or a smaller range (--row_bits BITS:range=W)",
        spec.ffm_init_width, spec.row_bits, spec.range()));
  }
  check_towers(spec);
  if (spec.linear.rate == 0 && spec.linear.rule == rules::kFtrl) {
    throw std::runtime_error("--optimizer linear=ftrl needs a rate above 0");
  }
}

}  // namespace leveret::spec
