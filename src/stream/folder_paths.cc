#include "stream/folder_paths.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace leveret::stream {
namespace {

constexpr int kPollMs = 200;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

[[noreturn]] void fail(const std::string& folder) {
  throw std::runtime_error(
      fmt::format("{}: cannot read this folder: {}; check its path and its "
                  "permissions",
                  folder, std::strerror(errno)));
}

}  // namespace

bool is_followed(std::string_view name) {
  return !name.starts_with('.') && !name.ends_with(".tmp") && !name.ends_with(".part");
}

FolderPaths::FolderPaths(std::string folder, std::string after, SourceEvents* events,
                         const StopFlag& stop)
    : folder_(std::move(folder)), last_(std::move(after)), events_(events), stop_(stop) {
  look();
}

/// A folder of many files is not listed five times a second for nothing. Its time of change is that
/// of the system's clock, which may stand still for some milliseconds: so it is trusted only when
/// it was old already.
bool FolderPaths::is_unchanged() {
  struct stat status;
  if (::stat(folder_.c_str(), &status) != 0) fail(folder_);
  const timespec& changed = status.st_mtim;
  const bool is_same =
      changed.tv_sec == changed_.tv_sec && changed.tv_nsec == changed_.tv_nsec && has_looked_;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  changed_ = now.tv_sec > changed.tv_sec + 1 ? changed : timespec{};
  return is_same;
}

void FolderPaths::look() {
  if (is_unchanged()) return;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(folder_.c_str()));
  if (!folder) fail(folder_);
  std::vector<std::string> before;
  for (errno = 0; const dirent* const entry = readdir(folder.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (!is_followed(name) || waiting_.contains(name)) continue;
    struct stat status;
    const bool is_before = name <= last_;
    if (is_before && met_.contains(name)) continue;
    if (::stat(path_of(name).c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (!is_before) {
      waiting_.insert(name);
      continue;
    }
    met_.insert(name);
    if (!has_looked_) {
      before.push_back(path_of(name));
    } else if (events_ != nullptr) {
      events_->late(path_of(name), last_);
    }
  }
  if (errno != 0) fail(folder_);
  std::ranges::sort(before);
  if (!before.empty() && events_ != nullptr) events_->before(before, last_);
  has_looked_ = true;
}

std::optional<std::string> FolderPaths::next() {
  while (!stop_.raised()) {
    look();
    if (!waiting_.empty()) {
      last_ = waiting_.extract(waiting_.begin()).value();
      met_.insert(last_);
      return path_of(last_);
    }
    pollfd watched = {stop_.fd(), POLLIN, 0};
    poll(&watched, 1, kPollMs);
  }
  return std::nullopt;
}

}  // namespace leveret::stream
