/// Patches that are applied one after the other, of which one is open at a time: a descriptor for
/// each would be more than a process may have (ulimit -n).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "patch/patch_stream.h"
#include "store/checksum.h"

namespace leveret::patch {

/// Errors are std::runtime_error that name the file and say what to do. One thread.
class PatchChain {
 public:
  /// Reads the front of each ("-": standard input). Pipes, which cannot be opened again, stay open.
  explicit PatchChain(const std::vector<std::string>& paths);

  std::size_t size() const { return links_.size(); }
  const PatchFront& front(std::size_t i) const { return links_[i].front; }
  /// For messages.
  const std::string& path(std::size_t i) const { return links_[i].path; }

  /// Refuses patches that do not follow each other.
  void check() const;
  /// The first patch to be applied to a file of this fingerprint; size() where it is the result of
  /// the last. `path`: its name, for messages.
  std::size_t start(const store::Checksum& fingerprint, const std::string& path) const;
  /// For reading what is behind its front. Once for each patch; one that has become another since
  /// is refused.
  PatchReader open(std::size_t i);

 private:
  struct Link {
    std::string path;
    PatchFront front;
    std::optional<PatchReader> pipe;
  };

  std::vector<Link> links_;
};

}  // namespace leveret::patch
