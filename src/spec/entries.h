/// The one list of everything in a Spec that has a name: each entry is an option of `train` or a key
/// of one (settings.h), a key of the model file's header, and a line of `inspect`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace leveret::spec {

/// Where the command line has an entry that is no option of its own: `--row_bits 8:range=1`,
/// `--optimizer rows=adagrad:rate=.1`.
struct OptionKey {
  const char* option = "";  ///< the option behind whose value it stands; "": the entry is an option
  const char* part = "";    ///< of --optimizer: linear, rows or layers
  const char* name = "";
};

struct SpecEntry {
  const char* name;   ///< option --NAME and JSON key; also where it has an OptionKey
  const char* alias;  ///< further option names, comma separated with dashes ("-b"); or ""
  const char* value;  ///< what its value is, for --help: "N", "NS,…"; "" for a switch
  const char* help;
  bool shape;    ///< fixed for the life of a model; else it may change when learning goes on
  bool number;   ///< a number in JSON, else a text
  bool repeats;  ///< may be given several times; values are joined by spaces, parts by commas
  /// Sets it from text. Throws std::runtime_error saying what the value should be.
  std::function<void(Spec&, const std::string&)> set;
  /// Canonical text, which `set` takes back to the same value.
  std::function<std::string(const Spec&)> get;
  /// Its value in a file that has no such key; null: then the file is damaged.
  const char* absent = nullptr;
  enum class Stored {
    kAlways,
    kUnlessAbsent,  ///< where it differs from `absent`
  };
  /// Whether a model of this spec is what `shape` text says; null: where both mean the same value.
  bool (*holds)(const Spec&, const std::string&) = nullptr;
  /// Whether models that differ in it are of different lines (modelfile::line_of).
  bool of_line = true;
  /// Whether the header has a key of it.
  Stored stored = Stored::kAlways;
  OptionKey key{};
};

const std::vector<SpecEntry>& spec_entries();

/// Whether the header of a model of this spec has a key of the entry.
bool is_stored(const SpecEntry& entry, const Spec& spec);

/// Combinations that cannot work. Throws std::runtime_error naming the options.
void check_spec(const Spec& spec);

}  // namespace leveret::spec
