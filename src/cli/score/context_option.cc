#include "cli/score/context_option.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "feature/selector.h"

namespace leveret::cli {

void add_context_option(CLI::App& verb, std::vector<std::string>& context, const char* help) {
  verb.add_option("--context", context, help)
      ->type_name("NS[,NS...]")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void split_context(std::vector<std::string>& context) {
  std::vector<std::string> names;
  for (const std::string& list : context) {
    const std::size_t before = names.size();
    for (const std::string& name : feature::split_list(list)) names.push_back(name);
    if (names.size() == before) throw CLI::ValidationError("--context names no namespace");
  }
  context = std::move(names);
}

}  // namespace leveret::cli
