#include "daemon/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "publish/watch.h"

namespace leveret::daemon {
namespace {

constexpr std::string_view kEnding = ".lvt";
constexpr std::size_t kSwapsKept = 20;

std::string name_of(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  return name;
}

/// Whether it may stand behind "@" in a line, and in an address of HTTP.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

}  // namespace

NamedPath read_named_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !is_name(text.substr(0, equals))) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Models::Models(const std::vector<std::string>& given, const std::vector<std::string>& followed,
               std::uint64_t max_memory)
    : max_memory_(max_memory) {
  for (const std::string& text : given) {
    const NamedPath named = read_named_path(text);
    if (!named.name.empty()) {
      add(named.name, named.path);
    } else if (std::filesystem::is_directory(text)) {
      add_folder(text);
    } else {
      add(name_of(text), text);
    }
  }
  for (const std::string& text : followed) {
    const NamedPath named = read_named_path(text);
    // A folder's name may be followed by slashes.
    add_followed(
        named.name.empty()
            ? name_of(std::filesystem::absolute(text + "/.").lexically_normal().parent_path())
            : named.name,
        named.path);
  }
  tallies_.resize(models_.size());
  for (std::size_t i = 0; i < models_.size(); ++i) {
    tallies_[i].version = {std::chrono::system_clock::now(), models_[i].first_step};
    check_memory(i, *models_[i].place->get());
    models_[i].place->set_admit([this, i](const serve::Served& next) { check_memory(i, next); });
  }
}

/// With this version of one of them.
void Models::check_memory(std::size_t model, const serve::Served& next) const {
  std::uint64_t all = next.memory();
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (i != model) all += models_[i].place->get()->memory();
  }
  if (all <= max_memory_) return;
  throw std::runtime_error(fmt::format(
      "{}: with this model all models take {} bytes, more than --max_memory allows ({}); raise "
      "--max_memory, or export with fewer bits (leveret export --bits 8)",
      models_[model].name, all, max_memory_));
}

void Models::check_name(const std::string& name, const std::string& path) const {
  if (!is_name(name)) {
    throw std::runtime_error(
        fmt::format("{}: its name is to be of letters, digits, dots, dashes and underscores; give "
                    "it one: -i NAME={}",
                    path, path));
  }
  if (std::ranges::find(models_, name, &NamedModel::name) != models_.end()) {
    throw std::runtime_error(
        fmt::format("{}: another model is named {}, too; give it a name of its own: -i NAME={}",
                    path, name, path));
  }
}

void Models::add(const std::string& name, const std::string& path) {
  check_name(name, path);
  models_.push_back({name, path, std::make_shared<serve::Place>(path), false});
}

void Models::add_followed(const std::string& name, const std::string& folder) {
  check_name(name, folder);
  publish::Newest newest;
  try {
    newest = publish::open_newest(folder);
  } catch (const publish::NoSteps&) {
    // A folder that is not there is a typing error, as a rule.
    if (!std::filesystem::is_directory(folder)) throw;
    newest.place = std::make_shared<serve::Place>();
  }
  models_.push_back({name, folder, newest.place, true, newest.step});
}

std::optional<std::size_t> Models::awaited() const {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (models_[i].place->get()->is_nothing()) return i;
  }
  return std::nullopt;
}

void Models::add_folder(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kEnding) && !name.starts_with('.')) files.push_back(entry.path());
  }
  if (files.empty()) throw std::runtime_error(folder + ": has no file named *.lvt");
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) add(name_of(file), file.string());
}

std::optional<std::size_t> Models::find(std::string_view name) const {
  if (name.empty()) return 0;
  const auto found = std::ranges::find(models_, name, &NamedModel::name);
  if (found == models_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - models_.begin());
}

void Models::note(Swap swap) {
  const std::lock_guard lock(mutex_);
  if (const auto model = find(swap.model)) {
    Tally& tally = tallies_[*model];
    ++(swap.done ? tally.done : tally.failed);
    if (swap.done) tally.version = {swap.time, swap.step};
  }
  swaps_.push_front(std::move(swap));
  if (swaps_.size() > kSwapsKept) swaps_.pop_back();
}

std::vector<Swap> Models::swaps() const {
  const std::lock_guard lock(mutex_);
  return {swaps_.begin(), swaps_.end()};
}

std::uint64_t Models::swaps_done(std::size_t model) const {
  const std::lock_guard lock(mutex_);
  return tallies_[model].done;
}

std::uint64_t Models::swaps_failed(std::size_t model) const {
  const std::lock_guard lock(mutex_);
  return tallies_[model].failed;
}

Models::Version Models::version(std::size_t model) const {
  const std::lock_guard lock(mutex_);
  return tallies_[model].version;
}

}  // namespace leveret::daemon
