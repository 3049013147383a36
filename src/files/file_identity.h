/// Which file a path leads to, so that two paths to one file are known before either is opened.
#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace leveret::files {

/// A file that is there is known by its device and inode, one that is not by its folder's, and its
/// name.
struct FileIdentity {
  dev_t device;
  ino_t inode;
  std::string name;  ///< empty when the file is there

  auto operator<=>(const FileIdentity&) const = default;
};

/// The path after the symbolic links of its last part, which need not exist. Empty when there are
/// too many.
std::string follow_links(const std::string& path);

/// Whether `path` names an open descriptor of ours: the shell's redirection, not a file by name.
bool names_descriptor(std::string_view path);

/// A descriptor of the same open file, for a `path` that names one of ours: writing goes on where
/// it has come to, or at the end, as whoever opened it asked; opened by its name, a file would
/// begin anew. -1: the path names none of ours that can be written to. The caller closes it.
int duplicate_to_write(std::string_view path);

/// Nothing for what keeps no bytes or is no one's alone: terminals, /dev/null, sockets; and for a
/// path that no file can have. Opens nothing. Any thread.
std::optional<FileIdentity> identify(const std::string& path);

/// The file that a descriptor was opened on; nothing unless it is a regular file or a pipe.
std::optional<FileIdentity> identify(int descriptor);

}  // namespace leveret::files
