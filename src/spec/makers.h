/// How entries of entries.cc are made: values of one kind, read from text and written as it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "feature/selector.h"
#include "spec/entries.h"

namespace leveret::spec {

/// --NAME TEXT: expected what is.
struct BadValue : std::runtime_error {
  std::string expected;
  BadValue(const std::string& what, std::string what_is)
      : std::runtime_error(what), expected(std::move(what_is)) {}
};
/// Throws BadValue.
[[noreturn]] void refuse(const char* name, const std::string& text, const std::string& expected);

/// Those of the text, or `refuse`.
std::uint64_t whole_of(const char* name, const std::string& text, std::uint64_t low,
                       std::uint64_t high);
float real_of(const char* name, const std::string& text, float low, float high);

/// A whole number that is part of the shape.
SpecEntry number_entry(const char* name, const char* alias, const char* value, const char* help,
                       std::uint32_t Spec::*member, std::uint32_t low, std::uint32_t high);

std::string joined(const std::vector<std::string>& parts, const char* by);
/// "a, b or c"
std::string either_of(const std::vector<std::string>& words);

/// A number of learning. get(Spec&) is the member.
template <class Get>
SpecEntry rate_entry(const char* name, const char* alias, const char* value, const char* help,
                     Get get, float low, float high) {
  return {name,
          alias,
          value,
          help,
          false,
          true,
          false,
          [=](Spec& s, const std::string& t) { get(s) = real_of(name, t, low, high); },
          [=](const Spec& s) { return fmt::format("{}", get(const_cast<Spec&>(s))); }};
}

/// Names of namespaces.
template <class Get>
SpecEntry names_entry(const char* name, const char* help, Get get) {
  return {name,
          "",
          "NS,…",
          help,
          true,
          false,
          true,
          [=](Spec& s, const std::string& t) {
            for (std::string& part : feature::split_list(t)) {
              for (std::size_t at; (at = part.find(' ')) != std::string::npos;) {
                get(s).push_back(part.substr(0, at));
                part.erase(0, at + 1);
              }
              get(s).push_back(part);
            }
          },
          [=](const Spec& s) { return joined(get(const_cast<Spec&>(s)), ","); }};
}

/// One of several words; `words` in the order of the enum's values.
template <class Get>
SpecEntry word_entry(const char* name, const char* help, bool shape, std::vector<std::string> words,
                     Get get) {
  return {
      name,
      "",
      "WORD",
      help,
      shape,
      false,
      false,
      [=](Spec& s, const std::string& t) {
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (t == words[i]) {
            get(s) = static_cast<std::remove_reference_t<decltype(get(s))>>(i);
            return;
          }
        }
        refuse(name, t, joined(words, " or "));
      },
      [=](const Spec& s) { return words[static_cast<std::size_t>(get(const_cast<Spec&>(s)))]; }};
}

/// The entry, which the command line has as a key of an option.
SpecEntry key_of(const char* option, const char* key, SpecEntry entry);
/// The entry, which the header has only where it says another thing than `absent`.
SpecEntry stored_unless(const char* absent, SpecEntry entry);

// Entries by subject, in the order in which they are listed; each function adds its own.

/// The features that lines have (features.cc).
void add_features(std::vector<SpecEntry>& list);
/// How weights of rows, and their accumulators, are stored (rows.cc).
void add_row_codecs(std::vector<SpecEntry>& list);
/// How weights move, and when features are forgotten (learning.cc).
void add_learning(std::vector<SpecEntry>& list);
void add_forgetting(std::vector<SpecEntry>& list);

}  // namespace leveret::spec
