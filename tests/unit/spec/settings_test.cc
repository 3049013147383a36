// VALUE[:key=value,…]: what stands behind an option sets entries of their own.
#include "spec/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::spec {
namespace {

const SpecEntry& entry_of(std::string_view name) {
  return *std::ranges::find_if(spec_entries(),
                               [&](const SpecEntry& entry) { return name == entry.name; });
}

/// What the words behind an option make of the default spec.
Spec with(std::string_view option, const std::vector<std::string>& words) {
  Spec spec;
  for (const Setting& setting : settings_of(entry_of(option), words)) setting.set(spec);
  return spec;
}

std::string message(std::string_view option, const std::vector<std::string>& words) {
  try {
    with(option, words);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// A value of the entry that is not its default.
std::string another(const SpecEntry& entry) {
  for (const char* text : {"0.25", "16", "off", "nearest", "mean", "7", "on"}) {
    Spec spec;
    try {
      entry.set(spec, text);
    } catch (const std::runtime_error&) {
      continue;
    }
    if (entry.get(spec) != entry.get(Spec())) return text;
  }
  FAIL("no other value of " << entry.name);
  return "";
}

TEST_CASE("each key sets its entry, and that alone, as the entry's own name does") {
  int keys = 0;
  for (const SpecEntry& entry : spec_entries()) {
    if (*entry.key.option == '\0') continue;
    ++keys;
    const std::string text = another(entry);
    const SpecEntry& option = entry_of(entry.key.option);
    const std::string value =
        *entry.key.part == '\0' ? option.get(Spec()) : std::string(entry.key.part) + "=adagrad";
    const std::string word = fmt::format("{}:{}={}", value, entry.key.name, text);
    INFO("--" << option.name << " " << word);
    const Spec spec = with(option.name, {word});
    for (const SpecEntry& each : spec_entries()) {
      CHECK(each.get(spec) == (&each == &entry ? [&] {
              Spec own;
              entry.set(own, text);
              return entry.get(own);
            }()
                                               : each.get(Spec())));
    }
    CHECK(message(option.name, {word + "x"}).find(entry.key.name) != std::string::npos);
    CHECK(message(option.name, {word + "," + entry.key.name + "=" + text}).find("once") !=
          std::string::npos);
    CHECK(message(option.name, {word + ",other=1"}).find(entry.key.name) != std::string::npos);
  }
  CHECK(keys > 15);
}

TEST_CASE("several keys of one word, and parts of --optimizer") {
  const Spec rows = with("row_bits", {"8:range=2,rounding=nearest,state=32"});
  CHECK(rows.row_bits == 8);
  CHECK(rows.weight_range == 2);
  CHECK(rows.rounds_to_nearest);
  CHECK(rows.state_bits == 32);
  const Spec parts =
      with("optimizer", {"linear=ftrl:rate=.25,l1=2,beta=3", "rows=sgd:rate=.5", "layers=adam"});
  CHECK(parts.linear.rule == rules::kFtrl);
  CHECK(parts.rows.rule == rules::kSgd);
  CHECK(parts.nn.rule == rules::kAdam);
  CHECK(parts.linear.rate == .25f);
  CHECK(parts.rows.rate == .5f);
  CHECK(parts.l1 == 2);
  CHECK(parts.ftrl_beta == 3);
}

TEST_CASE("keys behind a rule without a part are those of the part that it is for") {
  CHECK(with("optimizer", {"ftrl:rate=.25"}).linear.rate == .25f);
  CHECK(with("optimizer", {"adam:rate=.25"}).nn.rate == .25f);
  CHECK(message("optimizer", {"sgd:rate=.25"}).find("a part before the keys") != std::string::npos);
}

TEST_CASE("what is wrong names the option, what is given and what may stand there") {
  for (const auto& [option, word, says] : std::vector<std::array<std::string, 3>>{
           {"row_bits", "8:rang=1", "--row_bits 8:rang=1: expected range=W, state=BITS or"},
           {"row_bits", "8:range", "range=W"},
           {"row_bits", "8:", "range=W"},
           {"row_bits", "8:range=3", "range=3 of --row_bits: expected a power of two"},
           {"row_bits", ":range=1", "--row_bits "},
           {"row_bits", "7:range=1", "--row_bits 7: expected 4, 8, 12"},
           {"optimizer", "rows=sgd:rate=.1,layers=adam", "repeat --optimizer for another part"},
           {"optimizer", "rows=sgd:l1=1", "rate=X"},
           {"optimizer", "linear=ftrl,rows=sgd:rate=1", "a part before the keys"},
           {"optimizer", "towers=sgd:rate=1", "a part before the keys"},
           {"optimizer", "rows=sgd:rate=-1", "rate=-1 of --optimizer rows: expected a number"}}) {
    INFO(option << " " << word);
    CHECK_THAT(message(option, {word}), Catch::Contains(says));
  }
}

}  // namespace
}  // namespace leveret::spec
