#include "cli/file_uses.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <utility>

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
  if (!path.empty()) add(role, fmt::format("{} {}", option, path), files::identify(path));
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

void FileUses::add_saved_model(const char* option, const std::string& path) {
  add_path(Role::kSavedModel, option, path);
}

void FileUses::add_read(const char* option, const std::string& path) {
  if (path != "-") return add_path(Role::kData, option, path);
  add(Role::kData, "standard input", files::identify(STDIN_FILENO));
}

void FileUses::add_output(const char* option, const std::string& path) {
  if (path != "-") return add_path(Role::kOutput, option, path);
  ++printed_;
  add(Role::kOutput, "standard output", files::identify(STDOUT_FILENO));
}

void FileUses::add_result(const char* option, const std::string& path) {
  add_output(option, path.empty() ? "-" : path);
}

/// Files that are only read may be one; and a model may be saved in place of the one it came from.
bool FileUses::go_together(const Use& a, const Use& b) {
  const auto is_read = [](const Use& use) {
    return use.role == Role::kData || use.role == Role::kModel;
  };
  return (is_read(a) && is_read(b)) || (a.role == Role::kModel && b.role == Role::kSavedModel) ||
         (a.role == Role::kSavedModel && b.role == Role::kModel);
}

void FileUses::check() const {
  if (printed_ > 1) {
    throw CLI::ValidationError("two results cannot both go to standard output; name a file");
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    for (std::size_t j = i + 1; j < uses_.size(); ++j) {
      const Use &a = uses_[i], &b = uses_[j];
      if (go_together(a, b) || a.file != b.file) continue;
      throw CLI::ValidationError(
          fmt::format("{} and {} are the same file, which would be overwritten; name another one",
                      a.what, b.what));
    }
  }
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
