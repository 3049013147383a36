/// The right to be the only one who writes to a folder.
#pragma once

#include <string>

namespace leveret::files {

/// Held while it lives, and gone with the process, however it ends; nothing of it is seen in the
/// folder. Readers need none. A file system without locks gives it to everybody.
class FolderLock {
 public:
  /// std::runtime_error where the folder cannot be opened, or another process (or another lock of
  /// this one) has it: `busy` is what to say then, behind the folder's name.
  FolderLock(const std::string& folder, const std::string& busy);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

/// Makes a folder, unless it is there, and forces its name to the disk; the one that it is to lie
/// in is there. Returns whether it was made. std::runtime_error.
bool make_folder(const std::string& folder);

/// Gives a file of a folder another name there, whole and for good. std::runtime_error.
void rename_in_folder(const std::string& folder, const std::string& from, const std::string& to);

}  // namespace leveret::files
