/// A file of predictions: what is answered, in the order of the input, and where it goes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "train/answers.h"

namespace leveret::cli {

struct Result {
  using Number = train::Answers::Number;

  Result(const std::string& path, unsigned threads, Number number)
      : path(path),
        output(path, Output::File::kWhole),
        answers(threads, train::Answers::kMaxAhead, number) {}

  void write() {
    answers.take(lines);
    output.write(lines);
    output.flush();  // a coprocess waits for its answer
    lines.clear();
  }

  std::string path;
  Output output;
  train::Answers answers;
  std::string lines;
};

/// That of -p, as --link says, and that of -r where it has a name.
inline std::vector<std::unique_ptr<Result>> open_results(const std::string& predictions,
                                                         const std::string& raw,
                                                         std::string_view link, unsigned threads) {
  using Number = Result::Number;
  std::vector<std::unique_ptr<Result>> results;
  const Number number = link == "identity" ? Number::kScore : Number::kProbability;
  results.push_back(std::make_unique<Result>(predictions, threads, number));
  if (!raw.empty()) results.push_back(std::make_unique<Result>(raw, threads, Number::kScore));
  return results;
}

}  // namespace leveret::cli
