/// The temporary files that this process has just now, so that they go when a signal ends it.
///
/// A file is made and named here, or renamed or removed and forgotten here, in one TemporaryStep:
/// whenever a signal comes, the list is what is on the disk. Any thread.
#pragma once

#include <signal.h>

#include <memory>
#include <string>

namespace leveret::files {

/// While it lives, this thread hears no signal and no other thread takes such a step. A few system
/// calls; not one within another.
class TemporaryStep {
 public:
  TemporaryStep() noexcept;
  ~TemporaryStep();
  TemporaryStep(const TemporaryStep&) = delete;
  TemporaryStep& operator=(const TemporaryStep&) = delete;

 private:
  sigset_t before_;
};

/// A name that may be in the list.
class TemporaryName {
 public:
  /// None.
  TemporaryName() noexcept;
  /// Not in the list yet.
  explicit TemporaryName(std::string path);
  /// Forgets it; the file is its owner's business.
  ~TemporaryName();
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;

  /// Empty: none.
  const std::string& path() const noexcept;
  /// Within a step, once the file is this process's.
  void list(const TemporaryStep& step) noexcept;
  /// Within a step, with what makes the file no temporary one any more.
  void forget(const TemporaryStep& step) noexcept;

 private:
  friend void remove_temporaries() noexcept;
  struct Node;
  std::unique_ptr<Node> node_;
};

/// Removes the files in the list. For signal handlers that end the process right after: no step is
/// taken any more. A thread that is in the middle of one is waited for, some seconds at most.
void remove_temporaries() noexcept;

}  // namespace leveret::files
