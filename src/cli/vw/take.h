/// Command lines with Vowpal Wabbit's words, as the verbs take them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// `arguments` with our words for those that the verb does not have, by the table of words.h, as
/// far as it takes them; what is misuse stays, for `about_option`. `note` hears, once each, what is
/// passed over or done otherwise; not with --quiet.
std::vector<std::string> in_our_words(const CLI::App& app,
                                      const std::vector<std::string>& arguments,
                                      const std::function<void(const std::string&)>& note);

/// The message about an option that the verb does not have: whose it is, our words for it, or what
/// was perhaps meant. `typed` is --name, --name=value or -x.
std::string about_option(const CLI::App& app, const CLI::App& verb, const std::string& typed);

/// Whether `typed`, which the verb does not have, is one of Vowpal Wabbit's or Fwumious Wabbit's
/// and none of ours.
bool is_other_word(const CLI::App& verb, const std::string& typed);

/// The verb that a command line without one asks for, "train" where nothing else is said; empty
/// when the option `first` is nobody's.
std::string verb_of(const CLI::App& app, const std::string& first,
                    const std::vector<std::string>& words);

}  // namespace leveret::cli
