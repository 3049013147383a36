/// The options that make a model's Spec: one for each entry of spec::spec_entries().
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/cli11_fwd.h"
#include "spec/entries.h"

namespace leveret::options {

class SpecFlags {
 public:
  /// All options, or those named in `only`.
  void add_to(CLI::App& app, const std::vector<std::string_view>& only = {});

  bool is_given(std::string_view name) const;
  /// The files that are read, those of --field: "-" is one of this name.
  std::vector<std::string> files() const;
  /// A new model's spec: `defaults`, with what was given. Misuse is CLI::ValidationError.
  spec::Spec spec(spec::Spec defaults = {}) const;
  /// The spec of the model in `file`, with learning options changed where they were given. A shape
  /// option that contradicts the model is std::runtime_error, naming both.
  spec::Spec spec(const spec::Spec& stored, const std::string& file) const;

 private:
  struct Given {
    const spec::SpecEntry* entry;
    CLI::Option* option = nullptr;
    std::vector<std::string> values;
    bool on = false;

    bool is_given() const;
    /// With the fields of the files that it names. std::runtime_error about one of these.
    std::string text() const;
  };

  void refuse_idle(const spec::Spec& spec) const;
  void refuse_idle_rules(const spec::Spec& spec) const;

  std::deque<Given> given_;
};

/// The spec of a model that will be learned in shards, where there are no per-example updates: to
/// ask for them is misuse, and those of a model of one process are left out.
spec::Spec in_shards(const SpecFlags& flags, spec::Spec spec);

}  // namespace leveret::options
