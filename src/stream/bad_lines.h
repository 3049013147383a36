/// The treatment of lines that are no examples (--bad_lines, --quarantine): count, report, give up.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "text/example.h"

namespace leveret::stream {

/// The message that chunks of a cache have for a bad line: this very array.
inline constexpr char kBadInCache[] = "bad when the cache was made";

struct BadLinePolicy {
  enum class Kind {
    kShare,  ///< the default: up to 1 % of the lines so far, at least kShareFloor; in the end
             ///< no more than half of all
    kFail,   ///< none
    kSkip,   ///< any number
    kMax,    ///< up to `max`
  };
  static constexpr std::uint64_t kShareFloor = 10;

  Kind kind = Kind::kShare;
  std::uint64_t max = 0;

  /// How many of `lines` lines may be bad while more are to come.
  std::uint64_t allowed(std::uint64_t lines) const;
  /// The same of all lines of the input.
  std::uint64_t allowed_of_all(std::uint64_t lines) const;
};

/// `fail`, `skip` or `max=N`. Throws std::runtime_error on anything else.
BadLinePolicy parse_bad_line_policy(std::string_view text);

struct BadLineOptions {
  BadLinePolicy policy = {};
  std::string quarantine = {};  ///< file that bad lines are appended to; empty: none
  /// Receives each report (without a final newline): the first kReportedInFull bad lines with the
  /// text around the fault, then a count at most once a second. May be empty.
  std::function<void(const std::string&)> report = {};
  /// The format of which a bad line may be a row, or null; asked of the first one, and told where
  /// no line is good. May be null.
  const char* (*format_of)(std::string_view line) = nullptr;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Any number of threads. Never prints. Lines are counted up to each bad one, not by chunk, so the
/// same input gives up at the same line however it arrives (with one thread that adds).
class BadLineTally {
 public:
  static constexpr std::uint64_t kReportedInFull = 10;

  /// Opens the quarantine file; throws std::runtime_error when it cannot.
  explicit BadLineTally(BadLineOptions options);

  /// Counts a parsed chunk. Throws std::runtime_error, with the totals and the last bad line, when
  /// there are more bad lines than the policy allows, or when the quarantine cannot be written.
  void add(const text::ExampleChunk& chunk, const std::string& source_name);
  /// Counts lines that were judged when a cache was made from them; throws as above.
  void add_cached(std::uint64_t good, std::uint64_t bad);
  /// Counts as bad the lines of a chunk of a cache that this model does not take, and that
  /// add_cached has counted as good; throws as above.
  void add_refused(const text::ExampleChunk& chunk, const std::string& source_name);
  /// Reports a count that is still due, and warns of labels that are no clicks. For the end of the
  /// stream. Throws std::runtime_error when more lines were bad than the policy allows of all; and
  /// when there were lines, and all of them bad: whatever is allowed, that is another kind of file.
  void finish();

  std::uint64_t good() const;
  std::uint64_t bad() const;
  std::uint64_t lines() const;  ///< good and bad; blank lines are no lines

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  /// `lines`: good and bad ones up to this one.
  void report_bad(const text::ExampleChunk& chunk, const text::BadLine& bad,
                  const std::string& source_name, std::uint64_t lines);
  void quarantine(std::string_view line);
  void check_quarantine(bool ok) const;
  std::string totals(std::uint64_t lines) const;
  [[noreturn]] void give_up(const std::string& last) const;
  std::string other_format() const;
  std::string two_classes() const;

  const BadLineOptions options_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::FILE, FileCloser> quarantine_;
  std::uint64_t good_ = 0, bad_ = 0;
  std::uint64_t other_labels_ = 0;  ///< bad for this alone, and not told of yet
  std::uint64_t reported_ = 0;      ///< bad lines that a report told of
  const char* format_ = nullptr;    ///< of which the first bad line may be
  std::chrono::steady_clock::time_point last_count_{};
};

/// `bytes` with those other than printable ASCII as \t or \xNN, so that no input can write to a
/// terminal as it likes.
std::string escaped(std::string_view bytes);

/// "FILE:LINE:COLUMN: WHAT", the escaped text around the column, and a caret under it.
std::string format_bad_line(const text::ExampleChunk& chunk, const text::BadLine& bad,
                            const std::string& source_name);

}  // namespace leveret::stream
