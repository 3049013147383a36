/// Options of `train` that a learner in another program takes, too: those of the model, and of the
/// machine that it learns on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "options/cli11_fwd.h"
#include "options/spec_flags.h"
#include "spec/spec.h"

namespace leveret::options {

void add_threads_options(CLI::App& app, unsigned& threads, bool& pin);
void add_max_memory_option(CLI::App& app, std::uint64_t& bytes);

/// Long options may be written with - for _.
void put_underscores(std::vector<std::string>& words);

/// The words of a line: blanks separate them, '…' and "…" hold blanks, and \ takes the byte behind
/// it as it is, but for within '…'. std::runtime_error where a quote has no end.
std::vector<std::string> split_words(std::string_view text);

/// What a learner is asked to be, in the words of `leveret train`. One thread.
class LearnerOptions {
 public:
  /// std::runtime_error says what is wrong with an option; so do those below.
  explicit LearnerOptions(std::string_view text);
  ~LearnerOptions();
  LearnerOptions(const LearnerOptions&) = delete;
  LearnerOptions& operator=(const LearnerOptions&) = delete;

  unsigned threads() const { return threads_; }
  bool pin() const { return pin_; }
  /// Bytes of all tables; 0: what the machine has.
  std::uint64_t max_memory() const { return max_memory_; }

  /// Of a new model.
  spec::Spec spec() const { return flags_.spec(); }
  /// Of the model of `file`, which is gone on with.
  spec::Spec spec(const spec::Spec& stored, const std::string& file) const {
    return flags_.spec(stored, file);
  }

 private:
  const std::unique_ptr<CLI::App> app_;
  SpecFlags flags_;
  unsigned threads_ = 1;
  bool pin_ = false;
  std::uint64_t max_memory_ = 0;
};

}  // namespace leveret::options
