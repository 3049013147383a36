#include "cli/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace leveret::cli {

void say(std::string_view message) { say_raw(fmt::format("leveret: {}\n", message)); }

void say_raw(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Output::Output(const std::string& path)
    : name_(path.empty() || path == "-" ? "standard output" : path) {
  fd_ = name_ != path ? STDOUT_FILENO
                      : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
}

Output::~Output() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

void Output::write(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= 1 << 16) send();
}

void Output::flush() { send(); }

void Output::send() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      buffer_.clear();
      fail();
    }
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
}

void Output::close() {
  send();
  if (fd_ > STDERR_FILENO && ::close(std::exchange(fd_, -1)) != 0) fail();
}

void Output::fail() const {
  const int error = errno;
  throw OutputError(fmt::format("{}: cannot write: {}{}", name_, std::strerror(error),
                                error == EPIPE ? " (its reader has gone)" : ""));
}

void append_prediction(std::string& to, float probability, std::string_view tag) {
  fmt::format_to(std::back_inserter(to), "{:.6f}", probability);
  if (!tag.empty()) {
    to += ' ';
    to += tag;
  }
  to += '\n';
}

}  // namespace leveret::cli
