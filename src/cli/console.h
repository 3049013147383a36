/// Where the command line prints: messages to stderr, results to stdout or a file.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace leveret::cli {

/// One line to stderr, "leveret: " before it.
void say(std::string_view message);
/// Text to stderr as it is.
void say_raw(std::string_view text);
bool stderr_is_terminal();
/// Columns of the terminal on stderr; 80 when it is none.
int terminal_columns();

/// Thrown by Output: not the input is to blame.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Results: stdout ("-" or no name) or a file. Buffered; every failure (disk full, closed pipe) is
/// an OutputError naming the target.
class Output {
 public:
  /// An empty path is stdout.
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void flush();
  /// Flushes and closes; to be called at the end, so that a full disk is not missed.
  void close();

 private:
  void send();
  [[noreturn]] void fail() const;

  std::string name_;
  int fd_;
  std::string buffer_;
};

/// "0.123456", then " tag" if there is one, then the line end.
void append_prediction(std::string& to, float probability, std::string_view tag);

}  // namespace leveret::cli
