#include "stream/bad_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "text/label.h"
#include "text/plain_number.h"

namespace leveret::stream {
namespace {

/// Bytes of the line that are shown before and after the fault.
constexpr std::size_t kShownBefore = 40, kShownAfter = 40;

}  // namespace

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c > 0x7e) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::uint64_t BadLinePolicy::allowed(std::uint64_t lines) const {
  switch (kind) {
    case Kind::kShare:
      return std::max(kShareFloor, lines / 100);
    case Kind::kFail:
      return 0;
    case Kind::kSkip:
      return lines;
    case Kind::kMax:
      return max;
  }
  return 0;
}

std::uint64_t BadLinePolicy::allowed_of_all(std::uint64_t lines) const {
  return kind == Kind::kShare ? std::min(allowed(lines), lines / 2) : allowed(lines);
}

BadLinePolicy parse_bad_line_policy(std::string_view text) {
  if (text == "fail") return {BadLinePolicy::Kind::kFail, 0};
  if (text == "skip") return {BadLinePolicy::Kind::kSkip, 0};
  if (text.starts_with("max=")) {
    const auto max = text::read_whole(text.substr(4), 0, text::kAnyWhole);
    if (max) return {BadLinePolicy::Kind::kMax, *max};
  }
  throw std::runtime_error(
      fmt::format("--bad_lines {}: is not fail, skip or max=N (N: how many bad lines are skipped)",
                  text::shown(text)));
}

std::string format_bad_line(const text::ExampleChunk& chunk, const text::BadLine& bad,
                            const std::string& source_name) {
  const std::string_view line = chunk.view(bad.text_begin, bad.text_size);
  const std::size_t at = std::min<std::size_t>(bad.column ? bad.column - 1 : 0, line.size());
  const std::size_t begin = at > kShownBefore ? at - kShownBefore : 0;
  const std::size_t end = std::min(line.size(), at + kShownAfter);
  const std::string before = (begin > 0 ? "..." : "") + escaped(line.substr(begin, at - begin));
  const std::string after = escaped(line.substr(at, end - at)) + (end < line.size() ? "..." : "");
  return fmt::format("{}:{}:{}: {}\n    {}{}\n    {}^", source_name, bad.line, bad.column, bad.what,
                     before, after, std::string(before.size(), ' '));
}

BadLineTally::BadLineTally(BadLineOptions options) : options_(std::move(options)) {
  if (options_.quarantine.empty()) return;
  quarantine_.reset(std::fopen(options_.quarantine.c_str(), "ae"));
  check_quarantine(quarantine_ != nullptr);
}

void BadLineTally::add(const text::ExampleChunk& chunk, const std::string& source_name) {
  std::lock_guard lock(mutex_);
  std::size_t good_in_chunk = 0;  // before the bad line at hand
  for (const text::BadLine& bad : chunk.bad) {
    while (good_in_chunk < chunk.examples.size() && chunk.examples[good_in_chunk].line < bad.line) {
      ++good_in_chunk;
    }
    if (bad_++ == 0 && options_.format_of) {
      format_ = options_.format_of(chunk.view(bad.text_begin, bad.text_size));
    }
    if (bad.what == text::kNoClick) ++other_labels_;
    if (quarantine_) quarantine(chunk.view(bad.text_begin, bad.text_size));
    const std::uint64_t lines = good_ + good_in_chunk + bad_;
    report_bad(chunk, bad, source_name, lines);
    if (bad_ > options_.policy.allowed(lines)) {
      good_ += good_in_chunk;
      if (quarantine_) check_quarantine(std::fflush(quarantine_.get()) == 0);
      give_up(format_bad_line(chunk, bad, source_name));
    }
  }
  good_ += chunk.examples.size();
  // At once, so that nothing is lost however the program ends.
  if (quarantine_ && !chunk.bad.empty()) check_quarantine(std::fflush(quarantine_.get()) == 0);
}

void BadLineTally::add_cached(std::uint64_t good, std::uint64_t bad) {
  std::lock_guard lock(mutex_);
  good_ += good;
  bad_ += bad;
  reported_ += bad;
  if (bad_ > options_.policy.allowed(good_ + bad_)) {
    give_up("they were reported when the cache was made");
  }
}

void BadLineTally::add_refused(const text::ExampleChunk& chunk, const std::string& source_name) {
  for (const text::BadLine& bad : chunk.bad) {
    if (bad.what == kBadInCache) continue;  // bad for all: told of when the cache was made
    const std::lock_guard lock(mutex_);
    --good_;
    ++bad_;
    report_bad(chunk, bad, source_name, good_ + bad_);
    if (bad_ > options_.policy.allowed(good_ + bad_)) {
      give_up(format_bad_line(chunk, bad, source_name));
    }
  }
}

void BadLineTally::finish() {
  std::lock_guard lock(mutex_);
  if (bad_ > 0 && good_ == 0) {
    throw std::runtime_error(
        fmt::format("{} bad; correct the data{}{}",
                    bad_ == 1 ? "the only line is" : fmt::format("all {} lines are", bad_),
                    other_format(), two_classes()));
  }
  if (bad_ > options_.policy.allowed_of_all(good_ + bad_)) {
    throw std::runtime_error(
        fmt::format("{} of {} lines are bad, more than half; correct the data, or skip them with "
                    "--bad_lines skip "
                    "or max=N{}",
                    bad_, good_ + bad_, two_classes()));
  }
  if (!options_.report) return;
  if (bad_ != reported_) options_.report(totals(good_ + bad_));
  reported_ = bad_;
  if (other_labels_ > 0) {
    options_.report(fmt::format("warning: {} line{} had another label than -1, 0 or 1{}",
                                other_labels_, other_labels_ == 1 ? "" : "s", two_classes()));
    other_labels_ = 0;  // told once, and not in each pass
  }
}

/// Some ratings from 1 to 5 look like clicks.
std::string BadLineTally::two_classes() const {
  if (other_labels_ == 0) return {};
  return "; leveret learns clicks only, and a label of 1 is a click: make two classes of the "
         "labels; "
         "for ratings, awk '{ $1 = $1 > 3 ? 1 : -1 } 1' does";
}

std::string BadLineTally::other_format() const {
  if (format_ == nullptr || good_ > 0) return {};
  return fmt::format(
      "; they look like rows of another format: `leveret convert {}` makes VW text of them",
      format_);
}

void BadLineTally::report_bad(const text::ExampleChunk& chunk, const text::BadLine& bad,
                              const std::string& source_name, std::uint64_t lines) {
  if (!options_.report) return;
  if (bad_ <= kReportedInFull) {
    reported_ = bad_;
    options_.report(format_bad_line(chunk, bad, source_name));
    return;
  }
  const auto now = options_.now();
  if (bad_ > kReportedInFull + 1 && now - last_count_ < std::chrono::seconds(1)) return;
  last_count_ = now;
  reported_ = bad_;
  options_.report(totals(lines));
}

void BadLineTally::quarantine(std::string_view line) {
  std::FILE* file = quarantine_.get();
  check_quarantine(std::fwrite(line.data(), 1, line.size(), file) == line.size() &&
                   std::fwrite("\n", 1, 1, file) == 1);
}

void BadLineTally::check_quarantine(bool ok) const {
  if (ok) return;
  throw std::runtime_error(
      fmt::format("{}: cannot write the quarantined lines: {}; {} or give another --quarantine",
                  options_.quarantine, std::strerror(errno),
                  errno == EFBIG ? "raise the limit of file sizes (ulimit -f)" : "make room"));
}

std::string BadLineTally::totals(std::uint64_t lines) const {
  return fmt::format("{} bad line{} of {} so far", bad_, bad_ == 1 ? "" : "s", lines);
}

void BadLineTally::give_up(const std::string& last) const {
  const std::uint64_t lines = good_ + bad_;
  throw std::runtime_error(
      fmt::format("{} of {} lines {} bad, more than --bad_lines allows ({}); correct the data, or "
                  "skip them with "
                  "--bad_lines skip or max=N{}{}\n{}",
                  bad_, lines, bad_ == 1 ? "is" : "are", options_.policy.allowed(lines),
                  other_format(), two_classes(), last));
}

std::uint64_t BadLineTally::good() const {
  std::lock_guard lock(mutex_);
  return good_;
}

std::uint64_t BadLineTally::bad() const {
  std::lock_guard lock(mutex_);
  return bad_;
}

std::uint64_t BadLineTally::lines() const {
  std::lock_guard lock(mutex_);
  return good_ + bad_;
}

}  // namespace leveret::stream
