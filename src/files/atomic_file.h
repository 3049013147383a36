/// A file that appears under its name only when it is complete and on the disk.
///
/// It is written under a temporary name in the same folder, forced to the disk, and renamed over
/// the target; so the target is the old file or the new one, never a part. A symbolic link is
/// followed, the permissions of an existing file are kept, and a temporary file left behind by a
/// killed program is removed when the next one is made for the same target; one whose end a signal
/// is may remove its own (temporary_names.h). A target that exists and is no regular file (a pipe,
/// /dev/null) is written directly, and so is a descriptor of ours (/dev/stdout, /dev/fd/N), from
/// where it has come to.
///
/// One thread uses an AtomicFile; any number of processes may write the same target, and the last
/// commit wins. Errors are std::runtime_error; after one the object can only be destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "files/temporary_names.h"

namespace leveret::files {

class AtomicFile {
 public:
  /// Makes the temporary file.
  explicit AtomicFile(const std::string& path);
  /// Discards what was not committed.
  ~AtomicFile();

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends all of `bytes`. Not buffered: hand over large pieces.
  void write(std::span<const std::byte> bytes);
  /// Writes over the first bytes of what was written; what follows is appended. Under a temporary
  /// name only.
  void write_over_front(std::span<const std::byte> bytes);
  /// Forces the content to the disk and gives it its name. Nothing may be written afterwards.
  void commit();
  /// The same, and first a further name for it: a hard link, in place of the file that had it.
  /// Returns 0, or the error (errno) for which it has not got that one.
  int commit_with_link(const std::string& name);

  /// Whether it is written under a temporary name.
  bool is_temporary() const { return !temporary().empty(); }
  /// The temporary name, until it is committed: for who reads back what was written.
  const std::string& temporary() const { return temporary_.path(); }
  /// Bytes written so far.
  std::uint64_t size() const { return size_; }
  /// The path given, for messages.
  const std::string& path() const { return path_; }

 private:
  void make_temporary();
  bool open_temporary(const std::string& name);
  void keep_permissions();
  void force();
  void take_name();
  int rename_temporary() noexcept;
  void sync_folder() const;
  void discard() noexcept;
  [[noreturn]] void fail(const char* operation, int error) const;

  std::string path_;         ///< as given
  std::string target_;       ///< path_ after its symbolic links
  TemporaryName temporary_;  ///< none when the target is written directly
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Gives a file a further name (a hard link), in place of the file that had it: whoever looks sees
/// the one or the other. Returns 0, or the error (errno).
int link_over(const std::string& file, const std::string& name) noexcept;

/// Fails as a save under this name would that does not even get a first page written, and leaves
/// nothing: for who wants to know before hours of work. A target that is written directly is only
/// opened.
void try_save(const std::string& path);

}  // namespace leveret::files
