/// A file that never has a name: it goes with its last descriptor, however the process ends.
///
/// It takes room in the file system of the folder that is named. Where that has no such files, it
/// has a name for a moment. One thread writes. Errors are std::runtime_error; after one the object
/// can only be destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace leveret::files {

class UnnamedFile {
 public:
  /// Where it is made, and what errors say of that: "NAME: cannot …; REMEDY".
  struct Place {
    std::string folder, name, remedy;
  };

  explicit UnnamedFile(Place place);
  ~UnnamedFile();
  UnnamedFile(UnnamedFile&& other) noexcept;
  UnnamedFile& operator=(UnnamedFile&&) = delete;
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  /// Appends all of `bytes`. Not buffered: hand over large pieces.
  void write(std::span<const std::byte> bytes);
  /// Gives up the descriptor, for reading what was written; the caller closes it.
  int release();

 private:
  [[noreturn]] void fail(const char* operation, int error) const;

  Place place_;
  int fd_ = -1;
};

}  // namespace leveret::files
