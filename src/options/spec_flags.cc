#include "options/spec_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "options/field_file.h"
#include "spec/idle.h"
#include "spec/optimizer.h"

namespace leveret::options {

using spec::Setting, spec::Spec, spec::SpecEntry;

namespace {

/// Runs it, and what is wrong with an option is misuse.
template <class Work>
void as_misuse(Work work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    throw CLI::ValidationError(error.what());
  }
}

/// Rules of parts that the model lacks.
void refuse_idle_rules(const Spec& spec, const Setting& optimizer) {
  // Plain gradient descent is what a word means for the parts that there are.
  if (optimizer.text == "sgd") return;
  for (const spec::PartRule& rule : spec::rules_of_parts(optimizer.text)) {
    const char* const needed = spec::idle_without(rule.rate_option, spec);
    if (needed == nullptr || rule.rule == rules::kAdagrad) continue;
    throw CLI::ValidationError(
        fmt::format("{} does nothing for {} without {}", optimizer.shown, rule.name, needed));
  }
}

/// An option that changes nothing is misuse, but for one that says what holds without it.
void refuse_idle(const Spec& spec, const std::vector<Setting>& settings) {
  const Spec defaults;
  for (const Setting& setting : settings) {
    const SpecEntry& entry = *setting.entry;
    const std::string_view name = entry.name;
    if (*entry.value == '\0') continue;
    if (name == "optimizer") refuse_idle_rules(spec, setting);
    const char* const needed = spec::idle_without(name, spec);
    const std::string text = entry.get(spec);
    // Layers are there because they are asked for.
    const bool default_holds = text == entry.get(defaults) && name != "hidden";
    if (needed == nullptr || default_holds || text == "none") continue;
    throw CLI::ValidationError(fmt::format("{} does nothing without {}", setting.shown, needed));
  }
}

/// The text of --field with the fields of the files that it names.
std::vector<std::string> with_files(const std::vector<std::string>& values) {
  std::vector<std::string> fields;
  for (const std::string& value : values) {
    fields.push_back(value.starts_with('@') ? read_field_file(value.substr(1)) : value);
  }
  return fields;
}

[[noreturn]] void contradicts(const Setting& setting, const Spec& stored, const std::string& file) {
  const std::string has = setting.entry->get(stored);
  throw std::runtime_error(
      fmt::format("{} contradicts the model {}, which has {}; leave the option out, or train a new "
                  "model without -i",
                  setting.shown, file, has.empty() ? "none" : spec::said(setting, has)));
}

}  // namespace

void SpecFlags::Flag::add_to(CLI::App& app) {
  const std::string names =
      (*entry->alias != '\0' ? std::string(entry->alias) + "," : "") + "--" + entry->name;
  if (*entry->value == '\0') {
    option = app.add_flag(names, on, entry->help);
  } else {
    const bool folds = !spec::keys_of(*entry).empty();
    option = app.add_option(names, values, entry->help)
                 ->type_name(fmt::format("{}{}", entry->value, folds ? "[:key=value,…]" : ""));
    // One value each time, so that a file name behind it is no second one.
    option->expected(1)->allow_extra_args(false);
    if (entry->repeats) {
      option->take_all();
    } else {
      option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    }
    if (const std::string text = entry->get(Spec()); !text.empty()) option->default_str(text);
  }
  const bool is_key = *entry->key.option != '\0';
  option->group(is_key         ? ""  // not in the help
                : entry->shape ? "Model (stored with it; -i needs none of them again)"
                               : "Learning");
}

std::vector<Setting> SpecFlags::Flag::settings() const {
  if (option->count() == 0) return {};
  if (*entry->value == '\0') {
    return {{entry, on ? "true" : "false", fmt::format("--{}", entry->name)}};
  }
  const bool names_files = std::string_view(entry->name) == "field";
  const std::vector<std::string> words = names_files ? with_files(values) : values;
  std::vector<Setting> settings;
  as_misuse([&] { settings = spec::settings_of(*entry, words); });
  return settings;
}

void SpecFlags::add_to(CLI::App& app, const std::vector<std::string_view>& only) {
  for (const SpecEntry& entry : spec::spec_entries()) {
    if (!only.empty() && std::ranges::find(only, entry.name) == only.end()) continue;
    flags_.emplace_back().entry = &entry;
    flags_.back().add_to(app);
  }
}

std::vector<Setting> SpecFlags::settings() const {
  std::vector<Setting> all;
  for (const Flag& flag : flags_) {
    for (Setting& setting : flag.settings()) {
      const auto same = std::ranges::find(all, setting.entry, &Setting::entry);
      if (same != all.end()) {
        throw CLI::ValidationError(
            fmt::format("{} and {} set the same thing: leave one out", same->shown, setting.shown));
      }
      all.push_back(std::move(setting));
    }
  }
  std::ranges::sort(all, {}, &Setting::entry);
  return all;
}

std::vector<std::string> SpecFlags::files() const {
  std::vector<std::string> paths;
  for (const Flag& flag : flags_) {
    if (std::string_view(flag.entry->name) != "field") continue;
    for (const std::string& value : flag.values) {
      if (value.starts_with('@')) paths.push_back(value.substr(1));
    }
  }
  return paths;
}

bool SpecFlags::is_given(std::string_view name) const {
  return std::ranges::any_of(flags_, [&](const Flag& flag) {
    if (flag.option->count() == 0 || name == flag.entry->name) return flag.option->count() > 0;
    // Files of fields, which may be pipes, are read once: that option has no keys.
    return !spec::keys_of(*flag.entry).empty() &&
           std::ranges::any_of(flag.settings(),
                               [&](const Setting& setting) { return name == setting.entry->name; });
  });
}

Spec SpecFlags::spec(Spec spec) const {
  const std::vector<Setting> given = settings();
  as_misuse([&] {
    for (const Setting& setting : given) setting.set(spec);
    spec::check_spec(spec);
  });
  refuse_idle(spec, given);
  return spec;
}

Spec SpecFlags::spec(const Spec& stored, const std::string& file) const {
  Spec spec = stored;
  const std::vector<Setting> given = settings();
  for (const Setting& setting : given) {
    const SpecEntry& entry = *setting.entry;
    Spec wanted;
    as_misuse([&] { setting.set(wanted); });
    const std::string text = entry.get(wanted);
    if (!entry.shape) {
      entry.set(spec, text);
    } else if (entry.holds != nullptr ? !entry.holds(stored, setting.text)
                                      : text != entry.get(stored)) {
      contradicts(setting, stored, file);
    }
  }
  as_misuse([&] { spec::check_spec(spec); });
  refuse_idle(spec, given);
  return spec;
}

spec::Spec in_shards(const SpecFlags& flags, spec::Spec spec) {
  if (flags.is_given("per_example_updates") && spec.per_example_updates) {
    throw CLI::ValidationError(
        "shards have no per-example updates, as each would wait for sums of all shards: leave "
        "per_example=on of --batch_size out, or give per_example=off");
  }
  spec.per_example_updates = false;
  return spec;
}

}  // namespace leveret::options
