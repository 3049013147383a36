/// Which files a command line reads and writes, checked against each other before any is opened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/input.h"
#include "files/file_identity.h"
#include "store/content.h"

namespace leveret::cli {

/// An output that is also an input, a cache or another output would cost the user a file, and so
/// would one that takes the place of a file of another kind (store/content.h), unless the user says
/// --overwrite: check() says so by CLI::ValidationError (misuse). Only the model that is saved may
/// be the one that was given. Compared are devices and inodes, so links do not hide a file. Each
/// file of a folder of shards that is an input is one; and no output gets a name there that saves
/// give and remove.
class FileUses {
 public:
  /// Data (standard input where none is named), the cache and the quarantine file.
  void add(const InputOptions& input);
  /// `option` is for the message. A path that is empty is no use, but for a result's: "" and "-"
  /// are standard output.
  void add_model(const char* option, const std::string& path);
  /// `by`: the kind of model that is saved.
  void add_saved_model(const char* option, const std::string& path,
                       store::Content by = store::Content::kModel);
  /// A folder of shards, which may be that of the model.
  void add_saved_folder(const char* option, const std::string& path);
  /// Those of --field @FILE (SpecFlags::files).
  void add_field_files(const std::vector<std::string>& paths);
  /// Any other file that is read; "-" is standard input.
  void add_read(const char* option, const std::string& path);
  /// `by`: what is written there.
  void add_output(const char* option, const std::string& path, store::Content by);
  /// Predictions, or what is printed.
  void add_result(const char* option, const std::string& path);

  /// `overwrite`: the user has said that whatever outputs hold may go.
  void check(bool overwrite = false) const;

 private:
  enum Role { kData, kModel, kShard, kSavedModel, kSavedShard, kOutput, kRoles };
  struct Use {
    Role role;
    std::string what;  ///< "-p scores"
    files::FileIdentity file;
  };

  void add(Role role, std::string what, const std::optional<files::FileIdentity>& file);
  void add_path(Role role, const char* option, const std::string& path);
  void add_folder(Role role, const std::string& what, const std::string& path);
  static bool go_together(Role a, Role b);
  void check_names() const;
  void check_contents() const;

  std::vector<Use> uses_;
  std::vector<Use> folders_;  ///< of shards
  struct Target {
    std::string what, path;
    store::Content by;
  };
  std::vector<Target> targets_;  ///< files that are written over
  int printed_ = 0;              ///< results that go to standard output
};

/// --overwrite, for verbs that write files.
void add_overwrite_option(CLI::App& verb, bool& overwrite);

/// Refuses, as misuse, names under which no model can be saved whole or not at all: standard output
/// and pipes.
void check_model_name(const char* option, const std::string& path);

/// Checks the files of a verb that reads a model and writes its results to `result` (-p), or to
/// standard output ("" or "-").
void check_files(const InputOptions& input, const std::string& model, const std::string& result);

}  // namespace leveret::cli
