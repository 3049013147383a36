#include "feature/selector.h"
#include "spec/makers.h"

namespace leveret::spec {
namespace {

/// Declared or met.
constexpr std::size_t kMaxFields = 4096;

/// Namespaces of which "all" may be said.
void set_linear(Spec& s, const std::string& text) {
  s.features.linear_all = text == "all";
  s.features.linear.clear();
  if (text != "all" && text != "none") s.features.linear = feature::split_list(text);
}

std::string get_linear(const Spec& s) {
  if (s.features.linear_all) return "all";
  return s.features.linear.empty() ? "none" : joined(s.features.linear, ",");
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
  for (const auto& interaction : s.features.interactions) parts.push_back(joined(interaction, "*"));
  return joined(parts, ",");
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
    refuse("field", fmt::format("{} fields", s.features.fields.size()),
           fmt::format("at most {}", kMaxFields));
  }
}

std::string get_fields(const Spec& s) {
  std::vector<std::string> parts;
  for (const auto& field : s.features.fields) parts.push_back(joined(field, ","));
  return joined(parts, " ");
}

}  // namespace

void add_features(std::vector<SpecEntry>& list) {
  list.push_back(word_entry(
      "hash", "strings: all-digit names hash to their number; all: every name by murmur3", true,
      {"strings", "all"}, [](Spec & s) -> auto& { return s.hash; }));
  list.push_back(
      number_entry("hash_seed", "", "N", "seed of all hashes", &Spec::hash_seed, 0, 0xffffffff));
  list.push_back({"linear", "", "all|none|NS,…", "namespaces with linear weights", true, false,
                  false, set_linear, get_linear});
  list.push_back({"interactions", "-q,--quadratic", "A*B,…",
                  "pairs or triples of namespaces as linear features; VW's letters ab, abc, :: too",
                  true, false, true, set_interactions, get_interactions});
  list.push_back(
      {"field", "", "NS[,NS…]|@FILE",
       "one field of the FFM, or a file of them, one a line; default: every namespace is a field",
       true, false, true, set_fields, get_fields});
  list.push_back(names_entry(
      "ignore", "namespaces to leave out", [](Spec & s) -> auto& { return s.features.ignore; }));
  list.push_back(names_entry(
      "keep", "use these namespaces only", [](Spec & s) -> auto& { return s.features.keep; }));
  list.push_back(
      stored_unless("", names_entry(
                            "numeric", "namespaces of one number each: dense inputs of layers",
                            [](Spec & s) -> auto& { return s.features.numeric; })));
  list.push_back(
      {"transform", "", "NEW=F(NS,…)(…)",
       "makes a namespace from others: BinnerSqrt, BinnerLog, BinnerLogRatio (each also "
       "with Plain), Combine, Weight",
       true, false, true,
       [](Spec& s, const std::string& t) { s.features.transforms = feature::parse_transforms(t); },
       [](const Spec& s) { return feature::transforms_text(s.features.transforms); }});
  list.push_back({"max_fields", "", "N",
                  "namespaces that can become fields; later ones are linear only", true, true,
                  false,
                  [](Spec& s, const std::string& t) {
                    s.features.max_fields =
                        static_cast<std::uint32_t>(whole_of("max_fields", t, 1, kMaxFields));
                  },
                  [](const Spec& s) { return fmt::format("{}", s.features.max_fields); }});
}

}  // namespace leveret::spec
