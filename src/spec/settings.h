/// The values that one option gives. The command line has one grammar, `VALUE[:key=value,…]`: what
/// a key sets is an entry of its own (SpecEntry::key), with a name for headers and other programs.
#pragma once

#include <string>
#include <vector>

#include "spec/entries.h"

namespace leveret::spec {

/// A value of one entry.
struct Setting {
  const SpecEntry* entry;
  std::string text;   ///< as SpecEntry::set takes it
  std::string shown;  ///< for messages: "--row_bits 8", "range=1 of --row_bits"

  /// Throws std::runtime_error, which begins with `shown` where the value is not of the entry.
  void set(Spec& spec) const;
};

/// The keys of an option, of all its parts; none: its values are plain.
std::vector<const SpecEntry*> keys_of(const SpecEntry& option);

/// What the words mean, each behind an option of its own: the option's value first, then those of
/// its keys. Several words are parts of one value. Throws std::runtime_error.
std::vector<Setting> settings_of(const SpecEntry& option, const std::vector<std::string>& words);

/// How a message says another value of the entry, in the form in which one is given: "--ffm_k 8",
/// "range=1".
std::string said(const Setting& given, const std::string& text);

}  // namespace leveret::spec
