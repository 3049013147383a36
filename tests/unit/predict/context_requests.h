/// Requests drawn at random, and whether they score with a context as they do as whole lines.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "predict/context_predictor.h"
#include "train/train_run.h"

namespace leveret::predict {

/// Requests as text: of each the context, and its candidates.
struct Request {
  std::string context;
  std::vector<std::string> candidates;
};

/// Namespaces in `in_context` are the contexts', the others the candidates'.
inline std::vector<Request> random_requests(const model::LineShape& shape,
                                            const std::string& in_context, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto part = [&](bool context) {
    std::string text;
    for (std::uint32_t field = 0; field < shape.fields; ++field) {
      const bool is_context = in_context.find(static_cast<char>('A' + field)) != std::string::npos;
      if (is_context != context || random() % 100 < shape.missing) continue;
      text += model::random_namespace(random, shape, field);
    }
    return text;
  };
  std::vector<Request> requests(12);
  for (std::size_t r = 0; r < requests.size(); ++r) {
    // No two that follow each other are equal, and one is empty.
    requests[r].context =
        r == 3 ? "" : part(true) + " |" + in_context[0] + " own" + std::to_string(r);
    if (in_context.empty()) requests[r].context.clear();
    for (std::size_t c = random() % 12; c > 0; --c) {
      const char* const label = random() % 2 == 0 ? "1 1 0.5 'tag" : "";
      requests[r].candidates.push_back(label + part(false));
    }
    if (requests[r].candidates.empty()) requests[r].candidates.push_back(" |new namespace");
  }
  return requests;
}

/// Both parts in one line, the context's last or first.
inline std::string whole_lines(const std::vector<Request>& requests, bool context_first) {
  std::string lines;
  for (const Request& request : requests) {
    for (const std::string& candidate : request.candidates) {
      const std::size_t bar = std::min(candidate.find(" |"), candidate.size());
      const std::string label = candidate.substr(0, bar), features = candidate.substr(bar);
      lines += label + (context_first ? request.context + features : features + request.context);
      lines += label.empty() && features.empty() && request.context.empty() ? " |\n" : "\n";
    }
  }
  return lines;
}

inline std::vector<std::string> letters(const std::string& text) {
  std::vector<std::string> all;
  for (const char c : text) all.emplace_back(1, c);
  return all;
}

/// Log-odds within 1e-5 of each other, but for what a float cannot say of the probability near 1
/// that the mixed heads' are made of.
inline void check_near(const Outcomes& got, const Outcomes& expected, bool mixed = true) {
  REQUIRE(got.items.size() == expected.items.size());
  for (std::size_t i = 0; i < got.items.size(); ++i) {
    const double z = got.items[i].score, y = expected.items[i].score;
    const double digit = mixed ? 1.2e-7 * (1 + std::exp(y)) : 0.0;
    if (!(std::abs(z - y) <= 1e-5 * std::max(1.0, std::abs(y)) + digit)) {
      FAIL("candidate " << i << ": " << z << ", as a whole " << y);
    }
    CHECK(got.items[i].features == expected.items[i].features);
    CHECK(got.items[i].label == expected.items[i].label);
    CHECK(got.tag(got.items[i]) == expected.tag(expected.items[i]));
  }
}

using ModelPtr = std::shared_ptr<const model::Model>;

/// Block form: contexts and candidates apart.
inline Outcomes predict_blocks(const spec::Spec& spec, ContextPredictor& predictor,
                               text::NamespaceNames& names, const std::vector<Request>& requests) {
  Outcomes outcomes;
  const text::ParserOptions numbers = model::reading_numbers(spec);
  for (const Request& request : requests) {
    const text::ExampleChunk context = train::parse(names, request.context + " |\n", numbers);
    predictor.set_context(context, 0);
    std::string lines;
    for (const std::string& candidate : request.candidates) lines += candidate + " |\n";
    const text::ExampleChunk candidates = train::parse(names, lines, numbers);
    predictor.predict(candidates, 0, candidates.examples.size(), outcomes);
  }
  return outcomes;
}

/// Requests score as whole lines do, in lines and in blocks.
inline void check_requests(const ModelPtr& model, text::NamespaceNames& names,
                           const kernels::Kernels& kernels, const std::vector<Request>& requests,
                           const std::string& in_context) {
  const bool mixed = model->spec().mixed();
  const text::ParserOptions numbers = model::reading_numbers(model->spec());
  const auto expected_of = [&](const std::string& lines) {
    Outcomes outcomes;
    const text::ExampleChunk chunk = train::parse(names, lines, numbers);
    Predictor(model, names, kernels).predict(chunk, 0, chunk.examples.size(), outcomes);
    return outcomes;
  };
  for (const bool context_first : {true, false}) {
    const std::string lines = whole_lines(requests, context_first);
    const text::ExampleChunk chunk = train::parse(names, lines, numbers);
    ContextPredictor predictor(model, names, kernels, letters(in_context));
    Outcomes outcomes;
    predictor.predict_lines(chunk, 0, chunk.examples.size(), outcomes);
    check_near(outcomes, expected_of(lines), mixed);
  }
  ContextPredictor predictor(model, names, kernels, letters(in_context));
  check_near(predict_blocks(model->spec(), predictor, names, requests),
             expected_of(whole_lines(requests, true)), mixed);
}

}  // namespace leveret::predict
