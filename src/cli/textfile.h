/// Metrics in a file for the textfile collector of Prometheus' node exporter.
#pragma once

#include <string>
#include <utility>

#include "options/cli11_fwd.h"

namespace leveret::cli {

/// A problem that does not end the work: told when it comes, and again when it was gone in between.
/// One thread.
class ToldOnce {
 public:
  /// Empty: all is well.
  void tell(const std::string& problem);

 private:
  std::string told_;
};

/// One thread.
class Textfile {
 public:
  /// Empty: none.
  explicit Textfile(std::string path) : path_(std::move(path)) {}

  bool wanted() const { return !path_.empty(); }
  /// The whole text in place of what is there. A failure is told, and no more than that.
  void write(const std::string& text);

 private:
  std::string path_;
  ToldOnce told_;
};

/// --textfile. `when`: it is written.
CLI::Option* add_textfile_option(CLI::App& verb, std::string& path, const std::string& when);

}  // namespace leveret::cli
