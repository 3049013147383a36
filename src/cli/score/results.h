/// Files of predictions: what is answered, in the order of the input, and where it goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/file_uses.h"
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

struct ResultOptions {
  std::string predictions;        ///< file; empty: standard output
  std::string raw_predictions;    ///< file; empty: none
  std::string link = "logistic";  ///< of predictions; or identity
  bool overwrite = false;
};

/// The option of what predictions are, for every verb that makes some.
void add_link_option(CLI::App& verb, std::string& link);
/// -p, -r, --overwrite and --link.
void add_result_options(CLI::App& verb, ResultOptions& options);
void add_results(FileUses& uses, const ResultOptions& options);
/// That of -p, as --link says, and that of -r where it has a name.
std::vector<std::unique_ptr<Result>> open_results(const ResultOptions& options, unsigned threads);
/// std::runtime_error where a signal has stopped what a file is made of, and the file appears only
/// when it is whole.
void check_whole(const Result& result, bool stopped);

}  // namespace leveret::cli
