/// Nearly all of the time a CTR learner spends on text goes to lines of one shape,
/// `1 |name token |name token ...`; parse_usual_namespaces() does that shape alone and gives up at
/// the first thing it does not expect. The other functions do the whole grammar.
#include "text/line_parser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/text/short_hash.h"
#include "text/label.h"
#include "text/namespace_number.h"

namespace leveret::text {
namespace {

/// Run names from here on are indices into the names new in this line.
constexpr std::uint32_t kNewName = 1u << 31;
static_assert(NamespaceNames::kMax < kNewName);

// A run is written in words of eight bytes: its name and hash as the cache has them, and its place.
static_assert(offsetof(NamespaceRun, name) == 0 && offsetof(PlainNamespace, id) == 0 &&
              offsetof(NamespaceRun, hash) == 4 && offsetof(PlainNamespace, hash) == 4 &&
              offsetof(NamespaceRun, begin) == 8 && offsetof(NamespaceRun, end) == 12);

bool is_space(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Parser::LineParser::LineParser(NamespaceNames& names, ParserOptions options)
    : kernels_(*kernels::active().text),
      names_(names),
      options_(std::move(options)),
      cursor_(kernels_),
      out_(kernels_, options_.hash == HashMode::kStrings) {
  for (const std::string& space : options_.numbers) {
    const std::optional<std::uint32_t> id = names.intern(number_run_name(space));
    if (!id) throw std::length_error("too many different namespaces");
    const bool only =
        std::ranges::find(options_.only_numbers, space) != options_.only_numbers.end();
    number_runs_.insert(space, {*id, 0, only});
  }
}

void Parser::LineParser::parse(ExampleChunk& chunk) {
  text_ = chunk.bytes.data();
  size_ = static_cast<std::uint32_t>(chunk.bytes.size());
  cursor_.start(chunk.bytes);
  out_.start(chunk);
  std::uint64_t line = chunk.first_line;
  for (std::uint32_t begin = 0; begin < size_; ++line) {
    switch (parse_line(begin, chunk)) {
      case Line::kExample:
        chunk.examples.back().line = line;
        break;
      case Line::kBlank:
        ++chunk.blank_lines;
        break;
      case Line::kBad:
        while (!at_line_end()) cursor_.advance();
        out_.drop_line();
        add_bad_line(begin, line, chunk);
        break;
    }
    begin = cursor_.position() + 1;
    cursor_.advance();
  }
  out_.finish(options_.keep_names);
  chunk.name_limit = names_.size();
}

Parser::LineParser::Line Parser::LineParser::parse_line(std::uint32_t begin, ExampleChunk& chunk) {
  try {
    return parse_whole_line(begin, chunk);
  } catch (const TooManyFeatures&) {
    fail(kTooManyFeatures, line_begin_);
    return Line::kBad;
  }
}

Parser::LineParser::Line Parser::LineParser::parse_whole_line(std::uint32_t begin,
                                                              ExampleChunk& chunk) {
  out_.start_line();
  new_names_.clear();
  only_of_line_.clear();
  line_begin_ = begin;
  Example example{};
  example.importance = 1;
  if (!parse_usual_label(begin, example)) {
    if (view(begin, size_).starts_with("\xEF\xBB\xBF")) line_begin_ += 3;
    what_ = nullptr;
    if (!parse_label(line_begin_, example)) return what_ ? Line::kBad : Line::kBlank;
  }
  while (!at_line_end()) {
    if (!options_.keep_names) parse_usual_namespaces();
    if (delimiter() != '|') continue;
    const std::uint32_t space_begin = cursor_.position() + 1;
    if (!parse_namespace()) return Line::kBad;
    if (!options_.numbers.empty() && !add_number(space_begin)) return Line::kBad;
  }
  if (token_end() - begin > options_.max_line) {
    fail("line is longer than the limit", begin + options_.max_line);
    return Line::kBad;
  }
  if (out_.has_too_many_features()) {
    fail(kTooManyFeatures, line_begin_);
    return Line::kBad;
  }
  if (!new_names_.empty() && !name_new_namespaces()) return Line::kBad;
  example.runs_begin = out_.runs_begin();
  example.runs_end = out_.runs_end();
  chunk.examples.push_back(example);
  return Line::kExample;
}

/// `1 |`, `-1 |` and `0 |`; anything else is left untouched for parse_label.
bool Parser::LineParser::parse_usual_label(std::uint32_t begin, Example& example) {
  const auto ahead = cursor_.ahead();
  if (ahead.size() < 2) return false;
  const std::uint32_t end = ahead[0];
  if (text_[end] != ' ' || ahead[1] != end + 1 || text_[end + 1] != '|') return false;
  const std::string_view label = view(begin, end);
  if (label == "1") {
    example.label = 1;
  } else if (label == "-1" || label == "0") {
    example.label = -1;
  } else {
    return false;
  }
  cursor_.skip(1);
  return true;
}

/// False without a fault: the line is blank.
bool Parser::LineParser::parse_label(std::uint32_t begin, Example& example) {
  while (delimiter() != '|' && !at_line_end()) cursor_.advance();
  const bool has_bar = delimiter() == '|';
  if (options_.shared_label && has_bar && has_shared_label(view(begin, token_end()))) {
    example.shared = true;
    while (is_space(text_[begin])) ++begin;
    begin += static_cast<std::uint32_t>(kSharedLabel.size());
  }
  const LabelSection section = parse_label_section(view(begin, token_end()), has_bar);
  if (section.what) return fail(section.what, begin + section.fault);
  if (section.empty && !has_bar) return false;
  example.label = section.label;
  example.importance = section.importance;
  example.initial = section.initial;
  example.tag_begin = begin + section.tag_begin;
  example.tag_size = section.tag_size;
  return true;
}

/// The number of the namespace that begins there and has been parsed.
bool Parser::LineParser::add_number(std::uint32_t space_begin) {
  const std::string_view space = view(space_begin, token_end());
  const std::string_view name = space.substr(0, space.find_first_of(" \t:"));
  const KnownNamespace run = number_runs_.find(name);
  if (run.id == KnownNamespace::kUnknown) return true;
  const std::optional<float> number = namespace_number(space);
  if (run.number) {
    const std::size_t features = namespace_features(space);
    if (features > 1 ||
        (number && std::ranges::find(only_of_line_, run.id) != only_of_line_.end())) {
      return fail("a namespace of --numeric has more than one feature", space_begin);
    }
    if (features == 1 && !number) {
      return fail("a namespace of --numeric has no number", space_begin);
    }
    if (number) only_of_line_.push_back(run.id);
  }
  if (!number) return true;
  out_.reserve(1);
  const std::uint32_t begin = out_.next_feature();
  if (options_.keep_names) {
    out_.add_feature({0, *number}, {0, 0, 0, 0});
  } else {
    out_.add_feature({0, *number});
  }
  out_.add_run({run.id, run.hash, begin, begin + 1});
  return true;
}

/// Namespaces of the shape `|name feature |`: a known name and one feature without a value, with
/// single spaces. Stops at the first other one, before it, or at the end of the line.
void Parser::LineParser::parse_usual_namespaces() {
  const auto ahead = cursor_.ahead();
  out_.reserve(ahead.size() / 3 + 1);
  std::size_t i = 0;
  const auto line_ended = [&] { return i > 0 && text_[ahead[i - 1]] == '\n'; };
  std::size_t singly = 0;
  while (!line_ended()) {
    if (singly > 0) {
      --singly;
    } else {
      const std::size_t found = add_usual_namespaces(ahead.subspan(i));
      i += 3 * found;
      if (found == kernels::TextKernels::kNames) continue;
      if (found < kFew) singly = kSingly;
      if (line_ended()) break;
    }
    // The namespaces that the kernel leaves: longer names, or the last ones of the text.
    if (!add_usual_namespace(ahead.subspan(i))) break;
    i += 3;
  }
  cursor_.skip(line_ended() ? i - 1 : i);
}

/// As many as the kernels find and as are known.
std::size_t Parser::LineParser::add_usual_namespaces(std::span<const std::uint32_t> delimiters) {
  constexpr std::size_t kNames = kernels::TextKernels::kNames;
  std::uint64_t names[kNames];
  UnhashedFeatures& features = out_.unhashed(kNames);
  const std::size_t found =
      kernels_.usual_namespaces(text_, size_, delimiters.data(), delimiters.size(), names,
                                features.next_words(), features.next_lengths());
  std::uint32_t* const seeds = features.next_seeds();
  NamespaceRun* const runs = out_.next_runs();
  const std::uint32_t at = out_.next_feature();
  constexpr std::uint64_t kNext = std::uint64_t{1} << 32 | 1;
  std::uint64_t place = std::uint64_t{at + 1} << 32 | at;
  std::size_t known = 0;
  for (; known < found; ++known, place += kNext) {
    const PlainNamespace* const space = known_.find_plain(names[known]);
    if (space == nullptr) break;
    std::memcpy(&runs[known], space, sizeof *space);
    std::memcpy(&runs[known].begin, &place, sizeof place);
    seeds[known] = space->hash;
  }
  out_.added_unhashed(known);
  return known;
}

/// The first one, if it has the shape.
bool Parser::LineParser::add_usual_namespace(std::span<const std::uint32_t> delimiters) {
  if (delimiters.size() < 4) return false;
  const std::uint32_t bar = delimiters[0], blank = delimiters[1], end = delimiters[2];
  const std::uint32_t begin = blank + 1;
  if (text_[bar] != '|' || text_[blank] != ' ' || blank == bar + 1 || end == begin) return false;
  if (text_[end] == '\n') {
    if (text_[end - 1] == '\r') return false;
  } else if (text_[end] != ' ' || delimiters[3] != end + 1 || text_[end + 1] != '|') {
    return false;
  }
  const KnownNamespace space = known_.find(view(bar + 1, blank));
  if (space.id == KnownNamespace::kUnknown || space.number) return false;
  add_plain(begin, end, {space.id, space.hash});
  return true;
}

/// A namespace whose one feature is the text's bytes [begin, end), of value 1.
void Parser::LineParser::add_plain(std::uint32_t begin, std::uint32_t end, PlainNamespace space) {
  const std::uint32_t at = out_.next_feature(), length = end - begin;
  const NamespaceRun run = {space.id, space.hash, at, at + 1};
  if (const std::optional<std::uint64_t> word = short_name(begin, end)) {
    UnhashedFeatures& features = out_.unhashed(1);
    *features.next_words() = *word;
    *features.next_lengths() = length;
    *features.next_seeds() = space.hash;
    *out_.next_runs() = run;
    return out_.added_unhashed(1);
  }
  out_.add_feature({hash_name(view(begin, end), space.hash, options_.hash), 1.0f});
  out_.add_run(run);
}

bool Parser::LineParser::parse_namespace() {
  const std::uint32_t name_begin = cursor_.position() + 1;
  cursor_.advance();
  const std::uint32_t name_end = token_end();
  Namespace space{.hash = 0, .weight = 1, .next_anonymous = 0};
  if (delimiter() == ':' && !parse_weight(name_end - name_begin, space.weight)) return false;
  const std::string_view name = view(name_begin, name_end);
  const KnownNamespace known = known_.find(name);
  const bool is_new = known.id == KnownNamespace::kUnknown;
  space.hash = is_new ? hash_namespace(name, options_.hash_seed, options_.hash) : known.hash;
  const std::uint32_t begin = out_.next_feature();
  if (!parse_features(space)) return false;
  const std::uint32_t end = out_.next_feature();
  if (begin == end) return true;
  out_.reserve(1);
  const auto new_id = static_cast<std::uint32_t>(kNewName + new_names_.size());
  out_.add_run({is_new ? new_id : known.id, space.hash, begin, end});
  if (is_new) new_names_.push_back(name);
  return true;
}

bool Parser::LineParser::parse_features(Namespace& space) {
  while (is_space(delimiter())) {
    const std::uint32_t begin = cursor_.position() + 1;
    cursor_.advance();
    const std::uint32_t end = token_end();
    if (delimiter() == ':') {
      if (!parse_value(space, begin, end - begin)) return false;
    } else if (end != begin) {
      add({hash(begin, end, space.hash), space.weight}, {begin, end - begin, 0, 0});
    }
  }
  return true;
}

void Parser::LineParser::add(Feature feature, FeatureName text) {
  if (feature.value == 0) return;
  out_.reserve(1);
  if (options_.keep_names) {
    out_.add_feature(feature, text);
  } else {
    out_.add_feature(feature);
  }
}

/// A name becomes known only here, when its line has proved good.
bool Parser::LineParser::name_new_namespaces() {
  for (std::uint32_t i = out_.runs_begin(); i < out_.runs_end(); ++i) {
    NamespaceRun& run = out_.run(i);
    if (run.name < kNewName) continue;
    const std::string_view name = new_names_[run.name - kNewName];
    const std::optional<std::uint32_t> id = names_.intern(name);
    if (!id) {
      return fail("too many different namespaces", static_cast<std::uint32_t>(name.data() - text_));
    }
    run.name = *id;
    if (names_.is_shared(*id)) continue;
    const std::string_view kept = names_.name(*id);
    const bool number = number_runs_.find(kept).id != KnownNamespace::kUnknown;
    known_.insert(kept, {*id, run.hash, number});
  }
  return true;
}

void Parser::LineParser::add_bad_line(std::uint32_t begin, std::uint64_t line,
                                      ExampleChunk& chunk) {
  chunk.bad.push_back({.line = line,
                       .text_begin = begin,
                       .text_size = token_end() - begin,
                       .column = fault_ - begin + 1,
                       .what = what_});
}

/// The bytes [begin, end), zeros behind, where they are 1 to 8 and hashed as they are: none that
/// would be trimmed at the ends.
std::optional<std::uint64_t> Parser::LineParser::short_name(std::uint32_t begin,
                                                            std::uint32_t end) const {
  const std::uint32_t size = end - begin;
  if (size - 1 >= 8 || size_ - begin < 8) return std::nullopt;
  const std::uint64_t word = kernels::load_le64(text_ + begin) & kernels::kLowBytes[size];
  if (kernels::blank_ends_short(word, size)) return std::nullopt;
  return word;
}

std::uint32_t Parser::LineParser::hash(std::uint32_t begin, std::uint32_t end,
                                       std::uint32_t seed) const {
  if (const std::optional<std::uint64_t> word = short_name(begin, end)) {
    return kernels::hash_short(*word, end - begin, seed, options_.hash == HashMode::kStrings);
  }
  return hash_name(view(begin, end), seed, options_.hash);
}

std::uint32_t Parser::LineParser::token_end() const {
  const std::uint32_t end = cursor_.position();
  return at_line_end() && end > line_begin_ && text_[end - 1] == '\r' ? end - 1 : end;
}

}  // namespace leveret::text
