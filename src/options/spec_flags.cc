#include "options/spec_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "options/field_file.h"
#include "spec/idle.h"
#include "spec/optimizer.h"

namespace leveret::options {

void SpecFlags::add_to(CLI::App& app, const std::vector<std::string_view>& only) {
  const spec::Spec defaults;
  for (const spec::SpecEntry& entry : spec::spec_entries()) {
    if (!only.empty() && std::ranges::find(only, entry.name) == only.end()) continue;
    Given& given = given_.emplace_back();
    given.entry = &entry;
    const std::string names =
        (*entry.alias != '\0' ? std::string(entry.alias) + "," : "") + "--" + entry.name;
    if (*entry.value == '\0') {
      given.option = app.add_flag(names, given.on, entry.help);
    } else {
      given.option = app.add_option(names, given.values, entry.help)->type_name(entry.value);
      // One value each time, so that a file name behind it is no second one.
      given.option->expected(1)->allow_extra_args(false);
      if (entry.repeats) {
        given.option->take_all();
      } else {
        given.option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
      }
      const std::string text = entry.get(defaults);
      if (!text.empty()) given.option->default_str(text);
    }
    given.option->group(entry.shape ? "Model (stored with it; -i needs none of them again)"
                                    : "Learning");
  }
}

bool SpecFlags::Given::is_given() const { return option->count() > 0; }

std::string SpecFlags::Given::text() const {
  if (*entry->value == '\0') return on ? "true" : "false";
  if (std::string_view(entry->name) != "field") return fmt::format("{}", fmt::join(values, " "));
  std::vector<std::string> fields;
  for (const std::string& value : values) {
    fields.push_back(value.starts_with('@') ? read_field_file(value.substr(1)) : value);
  }
  return fmt::format("{}", fmt::join(fields, " "));
}

std::vector<std::string> SpecFlags::files() const {
  std::vector<std::string> paths;
  for (const Given& given : given_) {
    if (std::string_view(given.entry->name) != "field") continue;
    for (const std::string& value : given.values) {
      if (value.starts_with('@')) paths.push_back(value.substr(1));
    }
  }
  return paths;
}

bool SpecFlags::is_given(std::string_view name) const {
  return std::ranges::any_of(
      given_, [&](const Given& given) { return given.entry->name == name && given.is_given(); });
}

spec::Spec SpecFlags::spec(spec::Spec spec) const {
  std::vector<std::pair<const spec::SpecEntry*, std::string>> texts;
  for (const Given& given : given_) {
    if (given.is_given()) texts.emplace_back(given.entry, given.text());
  }
  try {
    for (const auto& [entry, text] : texts) entry->set(spec, text);
    spec::check_spec(spec);
  } catch (const std::runtime_error& error) {
    throw CLI::ValidationError(error.what());
  }
  refuse_idle(spec);
  return spec;
}

/// An option that changes nothing is misuse, but for one that says what holds without it.
void SpecFlags::refuse_idle(const spec::Spec& spec) const {
  const spec::Spec defaults;
  for (const Given& given : given_) {
    if (!given.is_given() || *given.entry->value == '\0') continue;
    const char* const needed = spec::idle_without(given.entry->name, spec);
    const std::string text = given.entry->get(spec);
    // Layers are there because they are asked for.
    const bool default_holds =
        text == given.entry->get(defaults) && std::string_view(given.entry->name) != "hidden";
    if (needed == nullptr || default_holds || text == "none") continue;
    throw CLI::ValidationError(
        fmt::format("--{} {} changes nothing: it needs {}", given.entry->name, text, needed));
  }
  refuse_idle_rules(spec);
}

/// Rules of parts that the model lacks, and rates that another option gives, too.
void SpecFlags::refuse_idle_rules(const spec::Spec& spec) const {
  for (const Given& given : given_) {
    if (!given.is_given() || std::string_view(given.entry->name) != "optimizer") continue;
    const std::string text = given.text();
    for (const spec::PartRule& rule : spec::rules_of_parts(text)) {
      if (rule.rate && is_given(rule.rate_option)) {
        throw CLI::ValidationError(fmt::format(
            "--optimizer {} and --{} both give a rate: leave one out", text, rule.rate_option));
      }
      const char* const needed = spec::idle_without(rule.rate_option, spec);
      if (needed == nullptr || (rule.rule == rules::kAdagrad && !rule.rate)) continue;
      // Plain gradient descent is what a word means for the parts that there are.
      if (text == "sgd") continue;
      throw CLI::ValidationError(fmt::format("--optimizer {} changes nothing for {}: it needs {}",
                                             text, rule.name, needed));
    }
  }
}

spec::Spec SpecFlags::spec(const spec::Spec& stored, const std::string& file) const {
  spec::Spec spec = stored;
  for (const Given& given : given_) {
    if (!given.is_given()) continue;
    spec::Spec wanted;
    const std::string given_text = given.text();
    try {
      given.entry->set(wanted, given_text);
    } catch (const std::runtime_error& error) {
      throw CLI::ValidationError(error.what());
    }
    const std::string text = given.entry->get(wanted);
    if (!given.entry->shape) {
      given.entry->set(spec, text);
    } else if (given.entry->holds != nullptr ? !given.entry->holds(stored, text)
                                             : text != given.entry->get(stored)) {
      const std::string has = given.entry->get(stored);
      throw std::runtime_error(fmt::format(
          "--{} {} contradicts the model {}, which has {}; leave the option out, or train a new "
          "model without -i",
          given.entry->name, text, file,
          has.empty() ? "none" : fmt::format("--{} {}", given.entry->name, has)));
    } else if (given.entry->set_learning != nullptr) {
      given.entry->set_learning(spec, given_text);
    }
  }
  try {
    spec::check_spec(spec);
  } catch (const std::runtime_error& error) {
    throw CLI::ValidationError(error.what());
  }
  refuse_idle(spec);
  return spec;
}

spec::Spec in_shards(const SpecFlags& flags, spec::Spec spec) {
  if (flags.is_given("per_example_updates") && spec.per_example_updates) {
    throw CLI::ValidationError(
        "shards have no per-example updates, as each would wait for sums of all shards: leave "
        "--per_example_updates out, or give off");
  }
  spec.per_example_updates = false;
  return spec;
}

}  // namespace leveret::options
