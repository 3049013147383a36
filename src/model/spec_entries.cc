#include "model/spec_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "feature/selector.h"
#include "kernels/kernels.h"
#include "model/named_models.h"
#include "model/spec_optimizer.h"
#include "model/spec_towers.h"
#include "model/tower_text.h"
#include "text/plain_number.h"

namespace leveret::model {
namespace {

[[noreturn]] void bad(const char* name, const std::string& text, const std::string& expected) {
  throw std::runtime_error(fmt::format("--{} {}: expected {}", name, text::shown(text), expected));
}

std::uint64_t whole(const char* name, const std::string& text, std::uint64_t low,
                    std::uint64_t high) {
  const std::optional<std::uint64_t> value = text::read_whole(text, low, high);
  if (!value) bad(name, text, text::whole_from_to(low, high));
  return *value;
}

float real(const char* name, const std::string& text, float low, float high) {
  const std::optional<float> value = text::read_real(text, low, high);
  if (!value) bad(name, text, fmt::format("a number from {} to {}", low, high));
  return *value;
}

constexpr float kHuge = 1e30f;
/// Declared or met.
constexpr std::size_t kMaxFields = 4096;

SpecEntry number(const char* name, const char* alias, const char* value, const char* help,
                 std::uint32_t Spec::*member, std::uint32_t low, std::uint32_t high) {
  return {name,
          alias,
          value,
          help,
          true,
          true,
          false,
          [=](Spec& s, const std::string& t) {
            s.*member = static_cast<std::uint32_t>(whole(name, t, low, high));
          },
          [=](const Spec& s) { return fmt::format("{}", s.*member); }};
}

template <class Get>
SpecEntry rate(const char* name, const char* alias, const char* value, const char* help, Get get,
               float low, float high) {
  return {name,
          alias,
          value,
          help,
          false,
          true,
          false,
          [=](Spec& s, const std::string& t) { get(s) = real(name, t, low, high); },
          [=](const Spec& s) { return fmt::format("{}", get(const_cast<Spec&>(s))); }};
}

std::string join(const std::vector<std::string>& parts, const char* by) {
  return fmt::format("{}", fmt::join(parts, by));
}

template <class Get>
SpecEntry names(const char* name, const char* help, Get get) {
  return {name,
          "",
          "NS,…",
          help,
          true,
          false,
          true,
          [=](Spec& s, const std::string& t) {
            for (std::string& part : feature::split_list(t)) {
              for (std::size_t at; (at = part.find(' ')) != std::string::npos;) {
                get(s).push_back(part.substr(0, at));
                part.erase(0, at + 1);
              }
              get(s).push_back(part);
            }
          },
          [=](const Spec& s) { return join(get(const_cast<Spec&>(s)), ","); }};
}

/// To say it is to want the layers, whatever there is for them to read.
void set_hidden(Spec& s, const std::string& text) {
  s.fm_feeds_mlp = true;
  s.hidden.clear();
  if (text == "none" || text == "0") return;
  const bool has_empty = text.empty() || text.front() == ',' || text.back() == ',' ||
                         text.find(",,") != std::string::npos;
  if (has_empty) bad("hidden", text, "widths of layers (128,64), or none");
  for (const std::string& part : feature::split_list(text)) {
    s.hidden.push_back(static_cast<std::uint32_t>(whole("hidden", part, 1, 8192)));
  }
  if (s.hidden.size() > 16) bad("hidden", text, "at most 16 layers");
}

/// One of several words; `words` in the order of the enum's values.
template <class Get>
SpecEntry word(const char* name, const char* help, bool shape, std::vector<std::string> words,
               Get get) {
  return {
      name,
      "",
      "WORD",
      help,
      shape,
      false,
      false,
      [=](Spec& s, const std::string& t) {
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (t == words[i]) {
            get(s) = static_cast<std::remove_reference_t<decltype(get(s))>>(i);
            return;
          }
        }
        bad(name, t, join(words, " or "));
      },
      [=](const Spec& s) { return words[static_cast<std::size_t>(get(const_cast<Spec&>(s)))]; }};
}

/// A number of examples; k and m behind it stand for thousands and millions.
void set_expire(Spec& s, const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  std::uint64_t unit = 1;
  std::string digits = text;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'm')) {
    unit = text.back() == 'k' ? 1000 : 1'000'000;
    digits.pop_back();
  }
  const std::optional<std::uint64_t> count = text::read_whole(digits, 0, kMost / unit);
  if (!count) bad("expire", text, "a number of examples up to a million millions: 500k, 20m");
  s.expire = *count * unit;
}

/// Namespaces of which "all" may be said.
void set_linear(Spec& s, const std::string& text) {
  s.features.linear_all = text == "all";
  s.features.linear.clear();
  if (text != "all" && text != "none") s.features.linear = feature::split_list(text);
}

std::string get_linear(const Spec& s) {
  if (s.features.linear_all) return "all";
  return s.features.linear.empty() ? "none" : join(s.features.linear, ",");
}

void set_interactions(Spec& s, const std::string& text) {
  s.features.interactions.clear();
  std::string list = text;
  for (char& c : list) c = c == ' ' ? ',' : c;
  for (const std::string& part : feature::split_list(list)) {
    s.features.interactions.push_back(feature::parse_interaction(part));
  }
}

std::string get_interactions(const Spec& s) {
  std::vector<std::string> parts;
  for (const auto& interaction : s.features.interactions) parts.push_back(join(interaction, "*"));
  return join(parts, ",");
}

/// Fields are separated by spaces, which no namespace holds, and their namespaces by commas.
void set_fields(Spec& s, const std::string& text) {
  s.features.fields.clear();
  std::string rest = text + " ";
  for (std::size_t at; (at = rest.find(' ')) != std::string::npos; rest.erase(0, at + 1)) {
    std::vector<std::string> field = feature::split_list(rest.substr(0, at));
    if (!field.empty()) s.features.fields.push_back(std::move(field));
  }
  if (s.features.fields.size() > kMaxFields) {
    bad("field", fmt::format("{} fields", s.features.fields.size()),
        fmt::format("at most {}", kMaxFields));
  }
}

std::string get_fields(const Spec& s) {
  std::vector<std::string> parts;
  for (const auto& field : s.features.fields) parts.push_back(join(field, ","));
  return join(parts, " ");
}

/// How weights of rows are stored.
void add_row_codec(std::vector<SpecEntry>& list) {
  SpecEntry bits = {"row_bits",
                    "--ffm_precision",
                    "BITS",
                    "a stored weight of FFM, FM and embeddings: 4, 8, 12 or 16 (within "
                    "--weight_range, rounded) or 32",
                    true,
                    true,
                    false,
                    [](Spec& s, const std::string& t) {
                      const std::optional<std::uint64_t> n = text::read_whole(t, 4, 32);
                      if (!n || *n % 4 != 0 || (*n > 16 && *n != 32)) {
                        bad("row_bits", t, "4, 8, 12, 16 or 32");
                      }
                      s.row_bits = static_cast<std::uint32_t>(*n);
                    },
                    [](const Spec& s) { return fmt::format("{}", s.row_bits); }};
  bits.old_key = "ffm_precision";
  list.push_back(std::move(bits));
  SpecEntry range = {"weight_range",
                     "",
                     "W",
                     "stored weights of few bits are from -W to W, a power of two; default: 8 with "
                     "16 bits, 4 with 12, 1 with 8, .5 with 4",
                     true,
                     true,
                     false,
                     [](Spec& s, const std::string& t) {
                       const float w = real("weight_range", t, 0x1p-10f, 0x1p10f);
                       if (std::exp2(static_cast<float>(std::ilogb(w))) != w) {
                         bad("weight_range", t, "a power of two, .25, .5, 1, 2, 4 and so on");
                       }
                       s.weight_range = w;
                     },
                     [](const Spec& s) { return fmt::format("{}", s.range()); }};
  range.absent = "8";
  range.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(std::move(range));
  SpecEntry state = {
      "state_bits",
      "",
      "BITS",
      "an accumulator of FFM, FM and embeddings: 32, or 16 (rounded by chance); 0: 16 beside "
      "weights of few bits with --adagrad slice, else 32",
      true,
      true,
      false,
      [](Spec& s, const std::string& t) {
        const std::optional<std::uint64_t> n = text::read_whole(t, 0, 32);
        if (!n || *n % 16 != 0) bad("state_bits", t, "0, 16 or 32");
        s.state_bits = static_cast<std::uint32_t>(*n);
      },
      [](const Spec& s) { return fmt::format("{}", s.state_bits); }};
  state.absent = "0";
  state.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(std::move(state));
  SpecEntry rounding = word(
      "rounding",
      "of stored weights of few bits; stochastic: up or down by chance, so that the mean of many "
      "small steps is kept; nearest: as it says",
      true, {"stochastic", "nearest"}, [](Spec & s) -> auto& { return s.rounds_to_nearest; });
  rounding.absent = "stochastic";
  rounding.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(std::move(rounding));
}

void add_shape(std::vector<SpecEntry>& list) {
  list.push_back(word(
      "hash", "strings: all-digit names hash to their number; all: every name by murmur3", true,
      {"strings", "all"}, [](Spec & s) -> auto& { return s.hash; }));
  list.push_back(
      number("hash_seed", "", "N", "seed of all hashes", &Spec::hash_seed, 0, 0xffffffff));
  list.push_back({"linear", "", "all|none|NS,…", "namespaces with linear weights", true, false,
                  false, set_linear, get_linear});
  list.push_back({"interactions", "-q,--quadratic", "A*B,…",
                  "pairs or triples of namespaces as linear features; VW's letters ab, abc, :: too",
                  true, false, true, set_interactions, get_interactions});
  list.push_back(
      {"field", "", "NS[,NS…]|@FILE",
       "one field of the FFM, or a file of them, one a line; default: every namespace is a field",
       true, false, true, set_fields, get_fields});
  list.push_back(names(
      "ignore", "namespaces to leave out", [](Spec & s) -> auto& { return s.features.ignore; }));
  list.push_back(names(
      "keep", "use these namespaces only", [](Spec & s) -> auto& { return s.features.keep; }));
  list.push_back(
      {"transform", "", "NEW=F(NS,…)(…)",
       "makes a namespace from others: BinnerSqrt, BinnerLog, BinnerLogRatio (each also "
       "with Plain), Combine, Weight",
       true, false, true,
       [](Spec& s, const std::string& t) { s.features.transforms = feature::parse_transforms(t); },
       [](const Spec& s) { return feature::transforms_text(s.features.transforms); }});
  list.push_back(
      {"max_fields", "", "N", "namespaces that can become fields; later ones are linear only", true,
       true, false,
       [](Spec& s, const std::string& t) {
         s.features.max_fields = static_cast<std::uint32_t>(whole("max_fields", t, 1, kMaxFields));
       },
       [](const Spec& s) { return fmt::format("{}", s.features.max_fields); }});
  list.push_back(word(
      "heads",
      "mixed: linear, counts and the whole learn apart and are mixed online; one: one sum, one "
      "loss",
      true, {"mixed", "one"}, [](Spec & s) -> auto& { return s.heads; }));
  list.push_back(word(
      "fast_head",
      "on: a head that learns fast, and a memory that lets go, so that a moving target is "
      "followed; off: as if there were none",
      true, {"off", "on"}, [](Spec & s) -> auto& { return s.fast_head; }));
  list.push_back({"noconstant", "", "", "no constant feature", true, false, false,
                  [](Spec& s, const std::string& t) { s.constant = t == "false"; },
                  [](const Spec& s) { return std::string(s.constant ? "false" : "true"); }});
  list.push_back(number("bit_precision", "-b", "N",
                        "linear weights in 2^N hashed slots; 0: a table that grows",
                        &Spec::bit_precision, 0, 31));
  list.push_back(number("ffm_k", "", "N", "length of an FFM vector; 0: no FFM, and no MLP over it",
                        &Spec::ffm_k, 0, 256));
  list.push_back(number("fm_k", "", "N",
                        "length of an FM vector, one for each feature of a field; 0: no FM",
                        &Spec::fm_k, 0, 256));
  list.push_back(
      number("admit", "", "N",
             "a feature gets its row of vectors when seen N times; 0: twice, and more often the "
             "more rows its field has",
             &Spec::admit, 0, 1000000));
  list.push_back(word(
      "adagrad", "accumulators of FFM and FM: one per weight, or one per slice of k", true,
      {"weight", "slice"}, [](Spec & s) -> auto& { return s.adagrad_slice; }));
  add_row_codec(list);
  list.push_back({"hidden", "", "N,…|none", "widths of the MLP's ReLU layers", true, false, false,
                  set_hidden, [](const Spec& s) {
                    return s.hidden.empty() ? std::string("none")
                                            : fmt::format("{}", fmt::join(s.hidden, ","));
                  }});
  SpecEntry width = rate(
      "ffm_init_width", "", "X",
      "first weights of FFM, FM and embeddings are uniform with deviation X / sqrt(k)",
      [](Spec& s) -> float& { return s.ffm_init_width; }, 0, 100);
  width.shape = true;
  list.push_back(width);
  list.push_back(number("seed", "", "N", "seed of first weights and of stochastic rounding",
                        &Spec::seed, 0, 0xffffffff));
}

SpecEntry named_model() {
  SpecEntry entry{
      "model",
      "",
      "NAME",
      "a model by its name, which stands for options; others change what it has: lr, fm, fwfm, "
      "ffm, deepffm, wide_deep, deepfm, dcn, dcnv2 (leveret help models)",
      true,
      false,
      false,
      set_named_model,
      [](const Spec& s) { return s.named; }};
  entry.absent = "";
  entry.holds = is_named_model;
  entry.stored = SpecEntry::Stored::kUnlessAbsent;
  return entry;
}

void add_towers(std::vector<SpecEntry>& list) {
  SpecEntry dim = number(
      "embedding_dim", "", "N",
      "length of the vector of each feature of a field that the towers of --tower share; 0: none",
      &Spec::embedding_dim, 0, 256);
  dim.absent = "0";
  dim.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(dim);
  SpecEntry pool = word(
      "pool",
      "how the embeddings of several features of a field become one: sum, each times its value; "
      "mean: divided by the sum of |value|",
      true, {"sum", "mean"}, [](Spec & s) -> auto& { return s.pool; });
  pool.absent = "sum";
  pool.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(pool);
  SpecEntry tower{
      "tower",
      "",
      "KIND[:key=value,…]",
      "a tower over the embeddings, which adds to the score: mlp:hidden=64+32, fm, fwfm, "
      "cross:layers=3, cross2:layers=2,rank=16; the last two with hidden=64+32, too",
      true,
      false,
      true,
      set_embedding_towers,
      get_embedding_towers};
  tower.stored = SpecEntry::Stored::kElsewhere;
  list.push_back(tower);
}

void add_part(std::vector<SpecEntry>& list, const std::array<const char*, 3>& names,
              const char* alias, const char* what, PartLearning Spec::*part) {
  // Help texts live as long as the list, which lives for ever.
  static std::vector<std::unique_ptr<std::string>> texts;
  const auto text = [&](const char* about) {
    texts.push_back(std::make_unique<std::string>(fmt::format("{}: {}", what, about)));
    return texts.back()->c_str();
  };
  list.push_back(rate(
      names[0], alias, "X", text("learning rate"),
      [=](Spec& s) -> float& { return (s.*part).rate; }, 0, kHuge));
  list.push_back(rate(
      names[1], "", "X", text("power of the AdaGrad denominator"),
      [=](Spec& s) -> float& { return (s.*part).power_t; }, 0, 1));
  SpecEntry first = rate(
      names[2], "", "X", text("first value of AdaGrad's sum of squares"),
      [=](Spec& s) -> float& { return (s.*part).init_acc; }, 0, kHuge);
  // Accumulators of rows and layers hold it from their start.
  first.shape = true;
  list.push_back(first);
}

void add_learning(std::vector<SpecEntry>& list) {
  list.push_back({"optimizer", "", "RULE|PART=RULE,…",
                  "adagrad; sgd; ftrl: FTRL-proximal for the linear part; adam: for the MLP; or a "
                  "rule for each part: linear=ftrl,rows=adagrad,layers=adam; :rate=X behind one "
                  "sets its learning rate",
                  true, false, false, set_optimizer, get_optimizer, nullptr, set_rates});
  add_part(list, {"learning_rate", "power_t", "init_acc_gradient"}, "-l", "linear part",
           &Spec::linear);
  add_part(list, {"ffm_learning_rate", "ffm_power_t", "ffm_init_acc_gradient"}, "",
           "FFM, FM and embeddings", &Spec::ffm);
  add_part(list, {"nn_learning_rate", "nn_power_t", "nn_init_acc_gradient"}, "", "MLP", &Spec::nn);
  list.push_back(rate(
      "l1", "", "X", "FTRL: L1 regularisation", [](Spec& s) -> float& { return s.l1; }, 0, kHuge));
  list.push_back(rate(
      "l2", "", "X", "L2 regularisation of every weight that moves",
      [](Spec& s) -> float& { return s.l2; }, 0, kHuge));
  list.push_back(rate(
      "ftrl_beta", "", "X", "FTRL: beta; alpha is --learning_rate",
      [](Spec& s) -> float& { return s.ftrl_beta; }, 0, kHuge));
  SpecEntry batch =
      number("batch_size", "", "N", "examples whose gradients are summed and applied once",
             &Spec::batch_size, 1, 1 << 20);
  batch.shape = false;
  list.push_back(batch);
  SpecEntry warmup =
      number("batch_warmup", "", "N",
             "a batch has at most one example for N learned before it; 0: all have --batch_size",
             &Spec::batch_warmup, 0, 1 << 20);
  warmup.shape = false;
  warmup.absent = "0";
  list.push_back(warmup);
  SpecEntry turns = word(
      "batch_turns",
      "on: within a batch what is cheap (linear part, counts, fast head, mixers) is learned "
      "example by example",
      false, {"off", "on"}, [](Spec & s) -> auto& { return s.batch_turns; });
  turns.absent = "off";
  list.push_back(turns);
  SpecEntry nn_batch =
      number("nn_batch_size", "", "N",
             "examples that pass the MLP together, and of which it makes one step; up to 16",
             &Spec::nn_batch_size, 1, kernels::kMostTogether);
  nn_batch.shape = false;
  list.push_back(nn_batch);
}

void add_forgetting(std::vector<SpecEntry>& list) {
  SpecEntry expire{"expire",
                   "",
                   "N",
                   "forget a feature that N examples in a row have not had (500k, 20m); 0: never",
                   false,
                   true,
                   false,
                   set_expire,
                   [](const Spec& s) { return fmt::format("{}", s.expire); }};
  expire.absent = "0";
  expire.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(expire);
  SpecEntry full = word(
      "when_full",
      "what is done where --max_memory is reached: overflow: features that are new share one row; "
      "evict: those that are used least are forgotten",
      false, {"overflow", "evict"}, [](Spec & s) -> auto& { return s.evicts; });
  full.absent = "overflow";
  full.stored = SpecEntry::Stored::kUnlessAbsent;
  list.push_back(full);
}

}  // namespace

const std::vector<SpecEntry>& spec_entries() {
  static const std::vector<SpecEntry> list = [] {
    std::vector<SpecEntry> entries{named_model()};
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
    case SpecEntry::Stored::kElsewhere:
      return false;
    case SpecEntry::Stored::kUnlessAbsent:
      return entry.get(spec) != entry.absent;
    default:
      return true;
  }
}

void check_spec(const Spec& spec) {
  if (spec.nn.rule == UpdateRule::kAdam && spec.nn_batch_size > 1) {
    throw std::runtime_error(
        "--nn_batch_size above 1 is not for --optimizer adam, which counts its steps by example: "
        "give --nn_batch_size 1, or --batch_size");
  }
  if (spec.batch_size > 1 && spec.nn_batch_size > 1) {
    throw std::runtime_error(
        "--nn_batch_size is for examples that are learned one by one, and with --batch_size all "
        "parts have the batch's size: give --nn_batch_size 1");
  }
  // What is below a unit would be rounded to 0 on both sides of every pair, and stay there.
  const float first =
      spec.ffm_init_width * std::sqrt(3.0f / static_cast<float>(std::max(
                                                 {spec.ffm_k, spec.fm_k, spec.embedding_dim, 1u})));
  const kernels::Codec codec = spec.weight_codec();
  if (codec.kind == kernels::Codec::Kind::kFixed && spec.ffm_init_width > 0 &&
      first < (codec.is_narrow() ? 1.0f : 2.0f) * codec.unit()) {
    throw std::runtime_error(
        fmt::format("--ffm_init_width {} is too little for weights of {} bits within {}: "
                    "--row_bits 32 has such ones, and so has a smaller --weight_range",
                    spec.ffm_init_width, spec.row_bits, spec.range()));
  }
  check_towers(spec);
  if (spec.linear.rate == 0 && spec.linear.rule == UpdateRule::kFtrl) {
    throw std::runtime_error("--optimizer ftrl needs a --learning_rate above 0");
  }
}

}  // namespace leveret::model
