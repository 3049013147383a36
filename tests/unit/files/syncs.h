/// Watches what is forced to the disk: whether a machine that loses its power at any moment has,
/// behind each name, all that was written under it, and each name that another file tells of.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "files/file_calls.h"

namespace leveret::files {

/// Stands before the system's calls while it lives. One thread writes files.
class Syncs {
 public:
  /// `last`: the name of the file that tells of others, which are to be there before it.
  explicit Syncs(std::string last = {}) : real_(file_calls()) {
    state() = {};
    state().real = real_;
    state().last = std::move(last);
    file_calls() = {open, write, fsync, rename, unlink, link};
  }
  ~Syncs() { file_calls() = real_; }
  Syncs(const Syncs&) = delete;
  Syncs& operator=(const Syncs&) = delete;

  /// What would be lost now, or would have been lost on the way; each says of which file.
  std::vector<std::string> lost() const {
    std::vector<std::string> all = state().lost;
    for (const auto& [folder, names] : state().names) {
      for (const std::string& name : names) all.push_back(name + ": its name is not forced");
    }
    return all;
  }
  /// Names that files were given, in order.
  const std::vector<std::string>& renamed() const { return state().renamed; }
  /// Whether the names of a folder have been forced.
  bool has_forced(const std::string& folder) const {
    return state().forced.count(file_of(folder)) > 0;
  }

 private:
  using File = std::pair<dev_t, ino_t>;
  struct State {
    FileCalls real = {};
    std::string last;
    std::set<File> written;                       ///< and not forced since
    std::map<File, std::set<std::string>> names;  ///< by folder: given, and not forced since
    std::set<File> forced;
    std::vector<std::string> lost, renamed;
  };
  static State& state() {
    static State one;
    return one;
  }

  static File file_of(int fd) {
    struct stat info = {};
    ::fstat(fd, &info);
    return {info.st_dev, info.st_ino};
  }
  static File file_of(const std::string& path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return {info.st_dev, info.st_ino};
  }
  static File folder_of(const std::filesystem::path& path) {
    return file_of(path.has_parent_path() ? path.parent_path().string() : std::string("."));
  }

  static int open(const char* path, int flags, mode_t mode) {
    const int fd = state().real.open(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) != 0) state().written.insert(file_of(fd));
    return fd;
  }
  static ssize_t write(int fd, const void* data, std::size_t bytes) {
    state().written.insert(file_of(fd));
    return state().real.write(fd, data, bytes);
  }
  static int fsync(int fd) {
    const File file = file_of(fd);
    state().written.erase(file);
    state().names.erase(file);
    state().forced.insert(file);
    return state().real.fsync(fd);
  }
  static void check_forced(const char* file, const std::string& name) {
    if (state().written.count(file_of(std::string(file))) == 0) return;
    state().lost.push_back(name + ": has its name before its bytes are forced");
  }
  static int rename(const char* from, const char* to) {
    State& s = state();
    const std::string name = std::filesystem::path(to).filename();
    check_forced(from, name);
    std::set<std::string>& names = s.names[folder_of(to)];
    names.erase(std::filesystem::path(from).filename());
    for (const std::string& other : names) {
      if (name == s.last) s.lost.push_back(other + ": its name is not forced before " + name);
    }
    names.insert(name);
    s.renamed.push_back(name);
    return s.real.rename(from, to);
  }
  /// A further name may be lost, but has all bytes.
  static int link(const char* from, const char* to) {
    check_forced(from, std::filesystem::path(to).filename());
    return state().real.link(from, to);
  }
  static int unlink(const char* path) {
    state().names[folder_of(path)].erase(std::filesystem::path(path).filename());
    return state().real.unlink(path);
  }

  FileCalls real_;
};

}  // namespace leveret::files
