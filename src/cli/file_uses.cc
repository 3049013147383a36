#include "cli/file_uses.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <map>
#include <utility>

#include "dist/folder/shard_files.h"
#include "dist/folder/shard_names.h"

namespace leveret::cli {
namespace {

/// A named pipe: one that the shell has opened, as by >(command), is a descriptor's name.
bool is_named_pipe(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode) &&
         !files::names_descriptor(path);
}

}  // namespace

void FileUses::add(Role role, std::string what, const std::optional<files::FileIdentity>& file) {
  if (file) uses_.push_back({role, std::move(what), *file});
}

void FileUses::add_path(Role role, const char* option, const std::string& path) {
  if (path.empty()) return;
  const std::string what = fmt::format("{} {}", option, path);
  const bool is_read = role == kData || role == kModel;
  if (is_read && dist::ShardFolder::is_folder(path)) return add_folder(kShard, what, path);
  add(role, what, files::identify(path));
}

void FileUses::add_folder(Role role, const std::string& what, const std::string& path) {
  const std::optional<files::FileIdentity> folder = files::identify(path);
  add(role, what, folder);
  if (folder) folders_.push_back({role, what, *folder});
  for (const std::string& name : dist::names_in_model(path)) {
    add(role, fmt::format("{} of {}", name, what), files::identify(path + '/' + name));
  }
}

void FileUses::add(const InputOptions& input) {
  bool standard_input = input.data.empty();
  for (const std::string& path : input.data) {
    standard_input |= path == "-";
    if (path != "-") add_read("-d", path);
  }
  if (standard_input) add_read("", "-");
  add_path(Role::kOutput, "-c", input.cache);
  add_path(Role::kOutput, "--quarantine", input.quarantine);
}

void FileUses::add_model(const char* option, const std::string& path) {
  add_path(Role::kModel, option, path);
}

void FileUses::add_saved_model(const char* option, const std::string& path, store::Content by) {
  add_path(Role::kSavedModel, option, path);
  if (!path.empty()) targets_.push_back({fmt::format("{} {}", option, path), path, by});
}

void FileUses::add_saved_folder(const char* option, const std::string& path) {
  if (!path.empty()) add_folder(kSavedShard, fmt::format("{} {}", option, path), path);
}

void FileUses::add_read(const char* option, const std::string& path) {
  if (path != "-") return add_path(Role::kData, option, path);
  add(Role::kData, "standard input", files::identify(STDIN_FILENO));
}

void FileUses::add_field_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) add_read("--field", path == "-" ? "./-" : path);
}

void FileUses::add_output(const char* option, const std::string& path, store::Content by) {
  const bool is_printed = path == "-" || path == "/dev/stdout";
  if (!is_printed) {
    targets_.push_back({fmt::format("{} {}", option, path), path, by});
    return add_path(Role::kOutput, option, path);
  }
  ++printed_;
  add(Role::kOutput, "standard output", files::identify(STDOUT_FILENO));
}

void FileUses::add_result(const char* option, const std::string& path) {
  add_output(option, path.empty() ? "-" : path, store::Content::kNumbers);
}

/// Files that are only read may be one; and a model may be saved in place of the one it came from.
bool FileUses::go_together(Role a, Role b) {
  const auto is_read = [](Role role) { return role == kData || role == kModel || role == kShard; };
  const auto are = [&](Role one, Role other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  return (is_read(a) && is_read(b)) || are(kModel, kSavedModel) || are(kShard, kSavedShard) ||
         are(kSavedShard, kSavedShard);
}

/// Files that are not there yet, in folders of shards.
void FileUses::check_names() const {
  for (const Use& use : uses_) {
    if (use.role != kOutput && use.role != kSavedModel) continue;
    if (!dist::is_in_a_model(use.file.name)) continue;
    for (const Use& folder : folders_) {
      if (use.file.device != folder.file.device || use.file.inode != folder.file.inode) continue;
      throw CLI::ValidationError(fmt::format(
          "{} has a name of the files that {} saves, and the next save would remove it; "
          "choose another name",
          use.what, folder.what));
    }
  }
}

void FileUses::check_contents() const {
  for (const Target& target : targets_) {
    const store::Content there = store::content_of(target.path);
    if (store::may_replace(target.by, there)) continue;
    throw CLI::ValidationError(
        fmt::format("{}: holds {}, which would be lost; name another file, or say --overwrite",
                    target.what, store::name_of(there)));
  }
}

void FileUses::check(bool overwrite) const {
  if (printed_ > 1) {
    throw CLI::ValidationError("two results cannot both go to standard output; name a file");
  }
  check_names();
  // The first use of a file in each role: a chain has many patches.
  std::map<files::FileIdentity, std::array<const Use*, kRoles>> seen;
  for (const Use& use : uses_) {
    std::array<const Use*, kRoles>& before = seen[use.file];
    for (const Use* const other : before) {
      if (other == nullptr || go_together(other->role, use.role)) continue;
      throw CLI::ValidationError(
          fmt::format("{} and {} are the same file, which would be overwritten; name another one",
                      other->what, use.what));
    }
    if (before[use.role] == nullptr) before[use.role] = &use;
  }
  if (!overwrite) check_contents();
}

void add_overwrite_option(CLI::App& verb, bool& overwrite) {
  verb.add_flag("--overwrite", overwrite, "write over files whatever they hold");
}

void check_model_name(const char* option, const std::string& path) {
  if (path == "-") {
    throw CLI::ValidationError(
        fmt::format("{} -: a model is not written to standard output; name a file", option));
  }
  if (is_named_pipe(path)) {
    throw CLI::ValidationError(fmt::format(
        "{} {}: is a pipe, and a model is saved whole or not at all; name a file", option, path));
  }
}

void check_files(const InputOptions& input, const std::string& model, const std::string& result) {
  FileUses uses;
  uses.add(input);
  uses.add_model("-i", model);
  uses.add_result("-p", result);
  uses.check();
}

}  // namespace leveret::cli
