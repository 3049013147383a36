/// The options that make a model's Spec. Each entry of spec::spec_entries() has one by its own name;
/// help shows those that are no key of another (settings.h).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/cli11_fwd.h"
#include "spec/entries.h"
#include "spec/settings.h"

namespace leveret::options {

class SpecFlags {
 public:
  /// All options, or those named in `only`.
  void add_to(CLI::App& app, const std::vector<std::string_view>& only = {});

  /// Whether this entry is given, by its own name or as a key.
  bool is_given(std::string_view name) const;
  /// The files that are read, those of --field: "-" is one of this name.
  std::vector<std::string> files() const;
  /// A new model's spec: `defaults`, with what was given. Misuse is CLI::ValidationError.
  spec::Spec spec(spec::Spec defaults = {}) const;
  /// The spec of the model in `file`, with learning options changed where they were given. A shape
  /// option that contradicts the model is std::runtime_error, naming both.
  spec::Spec spec(const spec::Spec& stored, const std::string& file) const;

 private:
  /// An option of the command line.
  struct Flag {
    const spec::SpecEntry* entry;
    CLI::Option* option = nullptr;
    std::vector<std::string> values;
    bool on = false;

    void add_to(CLI::App& app);
    /// What it gives; nothing where it is not on the command line. CLI::ValidationError about its
    /// words, std::runtime_error about a file of fields that it names.
    std::vector<spec::Setting> settings() const;
  };

  /// What all of them give, in the order of the entries. Errors are those of Flag; that an entry is
  /// given twice is CLI::ValidationError.
  std::vector<spec::Setting> settings() const;

  std::deque<Flag> flags_;
};

/// The spec of a model that will be learned in shards, where there are no per-example updates: to
/// ask for them is misuse, and those of a model of one process are left out.
spec::Spec in_shards(const SpecFlags& flags, spec::Spec spec);

}  // namespace leveret::options
