#include "daemon/line_protocol.h"

#include <algorithm>
#include <chrono>

#include "text/label.h"

namespace leveret::daemon {
namespace {

/// Stands for a line that names a model that is not here: bad, whatever the line says.
constexpr std::string_view kNoModel = "no such model\n";

/// The first line, with its end.
std::string_view first_line(std::string_view lines) {
  const std::size_t end = lines.find('\n');
  return end == std::string_view::npos ? lines : lines.substr(0, end + 1);
}

bool has_names(std::string_view lines) {
  return lines.starts_with('@') || lines.find("\n@") != std::string_view::npos;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool has_shared_label(std::string_view line) { return text::has_shared_label(without_end(line)); }

bool begins_block(std::string_view lines) {
  return lines.starts_with('@') || has_shared_label(first_line(lines));
}

/// As the parser has it.
bool is_blank(std::string_view line) {
  line = without_end(line);
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

void LineProtocol::answer(std::string_view lines, std::string& to) {
  if (answers_.in_request()) lines = finish_block(lines, to);
  if (lines.empty()) return;
  has_names(lines) ? answer_named(lines, to) : answer_by(0, lines, to);
}

/// The block that is open goes on with the version that it began with. Returns what is behind it.
std::string_view LineProtocol::finish_block(std::string_view lines, std::string& to) {
  const bool is_newest = worker_.scorer(model_) == scorer_;
  if (is_newest && model_ == 0 && !has_names(lines)) return lines;
  while (!lines.empty() && answers_.in_request() && !begins_block(lines)) {
    const std::string_view line = first_line(lines);
    answers_.answer(*scorer_, line, to);
    lines.remove_prefix(line.size());
  }
  if (!answers_.in_request()) scorer_.reset();
  return lines;
}

/// Lines that follow each other and are for one model go together.
void LineProtocol::answer_named(std::string_view lines, std::string& to) {
  std::size_t model = 0;  // of the lines in unnamed_
  std::size_t block = 0;  // of lines without a name
  unnamed_.clear();
  const auto flush = [&] {
    if (!unnamed_.empty()) answer_by(model, unnamed_, to);
    unnamed_.clear();
  };
  while (!lines.empty()) {
    const std::string_view line = first_line(lines);
    lines.remove_prefix(line.size());
    const Named named = read_name(line);
    if (!named.model && context_lines_ && has_shared_label(line)) block = 0;
    const std::size_t of_line = named.model.value_or(block);
    if (of_line != model) flush();
    model = of_line;
    if (named.model && context_lines_) {
      if (!has_shared_label(named.rest)) unnamed_ += "shared ";
      block = model;
    }
    unnamed_ += named.rest.empty() && line.starts_with('@') ? kNoModel : named.rest;
    if (is_blank(line)) block = 0;
  }
  flush();
}

/// A line that names no model of this server has no rest.
LineProtocol::Named LineProtocol::read_name(std::string_view line) const {
  if (!line.starts_with('@')) return {std::nullopt, line};
  const std::size_t end = std::min(line.find_first_of(" \t|\r\n"), line.size());
  const auto model = end > 1 ? worker_.models().find(line.substr(1, end - 1)) : std::nullopt;
  if (!model) return {0, {}};
  // The line has an end, or nothing behind the name is a line of its own.
  return {model, end < line.size() ? line.substr(end) : std::string_view("\n")};
}

void LineProtocol::answer_by(std::size_t model, std::string_view lines, std::string& to) {
  const auto start = std::chrono::steady_clock::now();
  const bool goes_on = answers_.in_request() && model == model_ && !begins_block(lines);
  std::shared_ptr<Scorer> scorer = goes_on ? scorer_ : worker_.scorer(model);
  answers_.answer(*scorer, lines, to);
  scorer->counts().requests.add();
  scorer->counts().latencies.add(std::chrono::steady_clock::now() - start);
  model_ = model;
  scorer_ = answers_.in_request() ? std::move(scorer) : nullptr;
}

}  // namespace leveret::daemon
