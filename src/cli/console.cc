#include "cli/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "files/file_identity.h"
#include "text/utf8.h"

namespace leveret::cli {
namespace {

std::mutex terminal_mutex;
std::string status_line;  ///< guarded by it
std::string speaker = "leveret: ";
std::optional<LogFormat> log_format;

/// Erases the line that the cursor is in.
constexpr std::string_view kErase = "\r\033[K";

void to_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

/// Whether a terminal obeys it: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return first < 0x20 || first == 0x7f;
}

/// Control characters, and bytes that are no UTF-8, are shown; line ends stay.
std::string without_controls(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = text::utf8_bytes(text);
    const std::string_view part = text.substr(0, std::max<std::size_t>(bytes, 1));
    text.remove_prefix(part.size());
    if (part == "\n" || (bytes > 0 && !is_control(part))) {
      shown += part;
      continue;
    }
    for (const char c : part) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

/// "2026-11-30T06:12:47Z"
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Takes "warning: " from the front of a message.
std::string_view take_level(std::string_view& message) {
  for (const std::string_view level : {"error", "warning"}) {
    if (!message.starts_with(level) || !message.substr(level.size()).starts_with(": ")) continue;
    message.remove_prefix(level.size() + 2);
    return level;
  }
  return "info";
}

/// Lines that begin with `before`, but for the first, are indented: they look like lines of ours.
std::string indented(std::string_view message, std::string_view before) {
  constexpr std::string_view kIndent = "    ";
  std::string lines;
  while (true) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    lines += message.substr(0, end);
    lines += '\n';
    if (end == message.size()) return lines;
    message.remove_prefix(end + 1);
    if (message.starts_with(before)) lines += kIndent;
  }
}

/// A message of the log.
std::string log_line(std::string_view message) {
  const std::string_view level = take_level(message);
  if (log_format == LogFormat::kText) {
    return fmt::format("{} {} {}{}", utc_now(), level, speaker, indented(message, ""));
  }
  const nlohmann::ordered_json json = {
      {"time", utc_now()}, {"level", level}, {"message", without_controls(message)}};
  return json.dump() + "\n";
}

/// Calls take(line) for each line that has something in it.
template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) take(line);
  }
}

/// Whole lines, above the status line.
void to_terminal(std::string_view lines) {
  const std::string text = without_controls(lines);
  const std::lock_guard lock(terminal_mutex);
  if (status_line.empty()) return to_stderr(text);
  to_stderr(fmt::format("{}{}{}", kErase, text, status_line));
}

/// Errors that AtomicFile throws are about the target of results here.
template <class Work>
void as_output_error(Work work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    throw OutputError(error.what());
  }
}

}  // namespace

std::string binary_output(const std::string& path) {
  if (path != "-") return path;
  if (::isatty(STDOUT_FILENO) == 1) {
    throw CLI::ValidationError("binary output does not go to a terminal; name a file");
  }
  return "/dev/stdout";
}

void log_as(LogFormat format) { log_format = format; }

bool logs() { return log_format.has_value(); }

CLI::Option* add_log_option(CLI::App& app, std::optional<LogFormat>& format) {
  return app
      .add_option_function<std::string>(
          "--log",
          [&format](const std::string& word) {
            if (word != "text" && word != "json") {
              throw CLI::ValidationError(fmt::format("--log {}: expected text or json", word));
            }
            format = word == "json" ? LogFormat::kJson : LogFormat::kText;
          },
          "the form of log lines, which have the time (UTC) and a level: text or json")
      ->type_name("WORD")
      ->default_str("text");
}

void say(std::string_view message) {
  to_terminal(log_format ? log_line(message) : speaker + indented(message, "leveret: "));
}

void speak_as(const std::string& who) { speaker = fmt::format("leveret: {}: ", who); }

void say_raw(std::string_view text) {
  if (!log_format) return to_terminal(text);
  std::string lines;
  each_line(text, [&](std::string_view line) { lines += log_line(line); });
  to_terminal(lines);
}

void set_status(const std::string& status) {
  if (log_format) return;
  const std::lock_guard lock(terminal_mutex);
  const bool is_shown = !status.empty() || !status_line.empty();
  status_line = without_controls(status);
  if (is_shown) to_stderr(fmt::format("{}{}", kErase, status_line));
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Output::Output(const std::string& path, File file)
    : name_(path.empty() || path == "-" || path == "/dev/stdout" ? "standard output" : path) {
  if (name_ != path) {
    fd_ = STDOUT_FILENO;
  } else if (file == File::kWhole) {
    as_output_error([&] { whole_.emplace(path); });
  } else {
    fd_ = files::duplicate_to_write(path);
    if (fd_ < 0) fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail();
  }
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
  if (whole_) {
    as_output_error([&] { whole_->write(std::as_bytes(std::span(buffer_))); });
    return buffer_.clear();
  }
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
  if (whole_) return as_output_error([&] { whole_->commit(); });
  if (fd_ > STDERR_FILENO && ::close(std::exchange(fd_, -1)) != 0) fail();
}

void Output::fail() const {
  const int error = errno;
  const std::string what =
      fmt::format("{}: cannot write: {}{}", name_, std::strerror(error),
                  error == EFBIG ? "; raise the limit of file sizes (ulimit -f)" : "");
  if (error != EPIPE) throw OutputError(what);
  if (fd_ == STDOUT_FILENO) throw ReaderGone(what + " (its reader has gone)");
  throw OutputError(what + " (its reader has gone)");
}

}  // namespace leveret::cli
