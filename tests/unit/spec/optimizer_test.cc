// --optimizer: words, rules of parts, and what is wrong with others.
#include "spec/optimizer.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::spec {
namespace {

Spec with(const std::string& text) {
  Spec spec;
  set_optimizer(spec, text);
  return spec;
}

std::vector<std::string_view> of_parts(const Spec& spec) {
  return {spec.linear.rule, spec.rows.rule, spec.nn.rule};
}

using rules::kAdagrad, rules::kAdam, rules::kFtrl, rules::kSgd;

TEST_CASE("a word stands for the rules of all parts") {
  CHECK(of_parts(with("adagrad")) == std::vector{kAdagrad, kAdagrad, kAdagrad});
  CHECK(of_parts(with("sgd")) == std::vector{kSgd, kSgd, kSgd});
  CHECK(of_parts(with("ftrl")) == std::vector{kFtrl, kAdagrad, kAdagrad});
  CHECK(of_parts(with("adam")) == std::vector{kAdagrad, kAdagrad, kAdam});
}

TEST_CASE("each part has its rule, and AdaGrad where none is given") {
  CHECK(of_parts(with("rows=sgd")) == std::vector{kAdagrad, kSgd, kAdagrad});
  CHECK(of_parts(with("layers=adam,linear=ftrl")) == std::vector{kFtrl, kAdagrad, kAdam});
}

TEST_CASE("what a model says of its rules makes the same rules, whatever they were before") {
  for (const std::string linear : {"adagrad", "sgd", "ftrl"}) {
    for (const std::string rows : {"adagrad", "sgd", "adam"}) {
      for (const std::string layers : {"adagrad", "sgd", "adam"}) {
        const Spec spec = with("linear=" + linear + ",rows=" + rows + ",layers=" + layers);
        Spec again = with("linear=ftrl,rows=sgd,layers=sgd");
        set_optimizer(again, get_optimizer(spec));
        CHECK(of_parts(again) == of_parts(spec));
      }
    }
  }
}

TEST_CASE("models of one word say that word, as they always have") {
  for (const std::string word : {"adagrad", "sgd", "ftrl", "adam"}) {
    CHECK(get_optimizer(with(word)) == word);
  }
  CHECK(get_optimizer(with("linear=ftrl")) == "ftrl");
  CHECK(get_optimizer(with("linear=ftrl,layers=adam")) == "linear=ftrl,rows=adagrad,layers=adam");
}

TEST_CASE("a model has the rules of the parts that a text names") {
  const Spec spec = with("linear=ftrl,rows=sgd");
  CHECK(has_rules(spec, "rows=sgd"));
  CHECK(has_rules(spec, "linear=ftrl,layers=adagrad"));
  CHECK(!has_rules(spec, "rows=adagrad"));
  CHECK(!has_rules(spec, "ftrl"));
  CHECK(has_rules(with("ftrl"), "ftrl"));
}

TEST_CASE("what is wrong is said, with what may stand there") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      with(text);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {"momentum", "adagrad, sgd, ftrl or adam"},
           {"", "a rule"},
           {"rows=ftrl", "adagrad, sgd or adam for rows"},
           {"linear=adam", "adagrad, sgd or ftrl for linear"},
           {"layers=ftrl", "adagrad, sgd or adam for layers"},
           {"towers=sgd", "linear, rows or layers"},
           {"rows=sgd,rows=adagrad", "rows once"},
           {"rows=", "adagrad, sgd or adam"}}) {
    INFO(text);
    CHECK(message(text).find(word) != std::string::npos);
  }
}

}  // namespace
}  // namespace leveret::spec
