/// Vowpal Wabbit's and Fwumious Wabbit's options, and what each of them is here. `leveret help vw`
/// prints the list, leveret-vw(7) holds it (tests/vw_words.py compares the two), and command lines
/// are read by it (take.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace leveret::cli {

enum class Verdict {
  kSame,     ///< an option of ours has the name and the meaning; `here`: what to know of it
  kTaken,    ///< `here` are our words for it, {} its value
  kHolds,    ///< it is so already, because of `here`: nothing is said
  kIgnored,  ///< it changes nothing, because of `here`: a note is printed
  kOnly,     ///< `value` is the only value, which changes nothing; `here` answers others
  kVerb,     ///< `here` is the verb that does it, in place of the one that is given
  kSay,      ///< misuse, answered by `here`
};

struct Word {
  const char* name;   ///< without dashes, with _ between its words
  char letter;        ///< 0: none
  const char* value;  ///< how its value is called; empty: it is a flag
  const char*
      verbs;  ///< for these verbs, separated by spaces; empty: for those that no row before names
  Verdict verdict;
  const char* here;
};

/// Rows that belong together.
struct WordGroup {
  const char* title;
  std::span<const Word> words;
};

/// Options of what Leveret does not do, with one answer.
struct WordFamily {
  const char* here;
  const char* names;  ///< separated by spaces
};

std::span<const WordGroup> word_groups();
std::span<const WordFamily> word_families();

/// Whether a list with spaces between its words has `word`.
bool has_word(std::string_view list, std::string_view word);

/// The word that an option (--name or -x, with _) is for a verb; null: neither program has it.
/// Those of families are kSay.
const Word* find_word(std::string_view option, std::string_view verb);

/// The text of `here` for an option with this value: {} is the value, or how it is called where it
/// is none that stands for itself.
std::string words_for(const Word& word, std::string_view value);

/// All of it, for people.
std::string words_page();

}  // namespace leveret::cli
