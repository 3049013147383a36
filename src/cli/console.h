/// Where the command line prints: messages to stderr, results to stdout or a file.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "files/atomic_file.h"
#include "options/cli11_fwd.h"

namespace leveret::cli {

/// One line to stderr, "leveret: " before it. Names of files are other people's: what a terminal
/// would obey is escaped, and a further line that looks like another one of ours is indented.
void say(std::string_view message);
enum class LogFormat {
  kText,  ///< "2026-11-30T06:12:47Z info leveret: message"
  kJson,  ///< {"time":"2026-11-30T06:12:47Z","level":"info","message":"message"}
};
/// From now on stderr is a log: each message has the time (UTC) and the level. A message that
/// begins with "error: " or "warning: " has that one, others are info. In text further lines of a
/// message are indented. There is no status line then. Before there are threads.
void log_as(LogFormat format);
/// Whether stderr is a log.
bool logs();
/// --log, for what runs until a signal ends it.
CLI::Option* add_log_option(CLI::App& app, std::optional<LogFormat>& format);
/// From now on "leveret: WHO: ", of several processes that write to one terminal. Before there are
/// threads.
void speak_as(const std::string& who);
/// Whole lines to stderr, above the status line where there is one; escaped, too. In a log each is
/// a message. Any thread.
void say_raw(std::string_view text);
/// The last line of the terminal on stderr, shown until it is replaced; empty: none. Any thread.
void set_status(const std::string& status);
bool stderr_is_terminal();
/// Columns of the terminal on stderr; 80 when it is none.
int terminal_columns();

/// The file that "-" stands for where binary output is to go; else the path. Misuse where that is a
/// terminal.
std::string binary_output(const std::string& path);

/// Thrown by Output: not the input is to blame.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The program that read standard output has gone, as `head` does when it has enough.
struct ReaderGone : OutputError {
  using OutputError::OutputError;
};

/// Results: stdout ("-", /dev/stdout or no name) or a file. Buffered; every failure (disk full,
/// closed pipe) is an OutputError naming the target. One thread.
class Output {
 public:
  enum class File {
    kAsWritten,  ///< grows under its name, for people who watch it
    kWhole,      ///< appears at close(), whole, or not at all (files::AtomicFile)
  };

  /// An empty path is stdout. Pipes and devices are written as text comes, whatever `file` says.
  explicit Output(const std::string& path, File file = File::kAsWritten);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Whether nothing is to be seen under its name before close().
  bool appears_at_close() const { return whole_ && whole_->is_temporary(); }

  void write(std::string_view text);
  void flush();
  /// Flushes and closes; to be called at the end, so that a full disk is not missed. Without it a
  /// kWhole file stays as it was.
  void close();

 private:
  void send();
  [[noreturn]] void fail() const;

  std::string name_;
  int fd_ = -1;
  std::optional<files::AtomicFile> whole_;  ///< in place of fd_
  std::string buffer_;
};

}  // namespace leveret::cli
