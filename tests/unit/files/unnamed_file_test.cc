#include "files/unnamed_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "faults.h"
#include "temp_folder.h"

using namespace leveret::files;
using Catch::Contains;

namespace {

UnnamedFile::Place place_in(const std::string& folder) {
  return {folder, folder + " (TMPDIR)", "let TMPDIR name another"};
}

const std::vector<std::byte> kBytes(100'000, std::byte{7});

std::vector<std::byte> read_all(int fd) {
  std::vector<std::byte> bytes(2 * kBytes.size());
  bytes.resize(static_cast<std::size_t>(::pread(fd, bytes.data(), bytes.size(), 0)));
  ::close(fd);
  return bytes;
}

/// As where the file system of the folder has no files without names.
int open_nothing_unnamed(const char*, int, mode_t) {
  errno = EOPNOTSUPP;
  return -1;
}

}  // namespace

TEST_CASE("a file without a name holds what was written and is never seen in its folder") {
  const TempFolder folder;
  const bool is_known = GENERATE(true, false);
  const FileCalls real = file_calls();
  if (!is_known) file_calls().open = open_nothing_unnamed;
  {
    UnnamedFile file(place_in(folder / ""));
    file.write(kBytes);
    file.write({});
    CHECK(folder.names().empty());
    UnnamedFile moved(std::move(file));
    CHECK(read_all(moved.release()) == kBytes);
  }
  file_calls() = real;
  CHECK(folder.names().empty());
}

TEST_CASE("a process that is killed leaves no file without a name") {
  const TempFolder folder;
  for (int at = 0; at < 3; ++at) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Faults faults(Fault::kExit, at);
      UnnamedFile file(place_in(folder / ""));
      file.write(kBytes);
      file.write(kBytes);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 9);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("what is wrong with the place of a file without a name is said of it") {
  const TempFolder folder;
  write_bytes(folder / "file", {});
  const auto message = [&](const std::string& name, Fault fault = Fault::kNone, int at = -1) {
    const Faults faults(fault, at);
    try {
      UnnamedFile file(place_in(folder / name));
      file.write(kBytes);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(message("no/such") == (folder / "no/such") +
                                  " (TMPDIR): cannot make a temporary file there: No such file or "
                                  "directory; let TMPDIR name another");
  CHECK_THAT(message("file"), Contains("cannot make") && Contains("Not a directory"));
  CHECK_THAT(message("", Fault::kNoSpace, 0), Contains("(TMPDIR): cannot make"));
  CHECK_THAT(message("", Fault::kNoSpace, 1),
             Contains("(TMPDIR): cannot write") && Contains("No space left on device"));
  CHECK_THAT(message("", Fault::kNothing, 1), Contains("(TMPDIR): cannot write"));
  CHECK(message("", Fault::kShortWrites) == "nothing");
  CHECK(message("", Fault::kInterrupts) == "nothing");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}
