/// Metrics of `leveret publish` for Prometheus' textfile collector.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/textfile.h"
#include "publish/publish.h"

namespace leveret::cli {

/// One thread. Without a file nothing is done.
class PublishMetrics {
 public:
  /// `file` empty: none. `folder`: what is published to.
  PublishMetrics(std::string file, std::string folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  /// A model was looked at: published, the same as before, or refused. Writes the file.
  void add(const publish::Published& published);
  /// It could not be published, for another reason than a gate.
  void add_failure();

 private:
  void write();
  std::string text() const;

  Textfile file_;
  const std::string folder_;
  std::uint64_t published_ = 0, same_ = 0, refused_ = 0, failed_ = 0;
  bool is_refused_ = false;                  ///< the last one
  std::uint64_t tried_ = 0;                  ///< when, in seconds since 1970
  std::vector<publish::Measured> measured_;  ///< of the last one, where gates have measured it
};

}  // namespace leveret::cli
