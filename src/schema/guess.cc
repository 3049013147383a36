#include "schema/guess.h"

#include <algorithm>
#include <cstdint>

#include "schema/cell_text.h"

namespace leveret::schema {
namespace {

constexpr std::string_view kLabelNames[] = {"label",    "click",      "clicked",
                                            "is_click", "is_clicked", "target"};
/// Below so many values nothing is said of how often they come again.
constexpr std::uint64_t kFew = 100;

std::string lowered(std::string_view text) {
  std::string to(text);
  std::ranges::transform(to, to.begin(), lower);
  return to;
}

/// user_id, userId, zip, site-code: whole numbers in such columns are names.
bool is_name_of_codes(std::string_view name) {
  const std::string word = lowered(name);
  if (name.size() > 2 && name.ends_with("Id") && name[name.size() - 3] >= 'a') return true;
  for (const std::string_view end : {"id", "code", "zip", "zipcode", "postcode", "hash", "key"}) {
    if (word == end) return true;
    if (!word.ends_with(end)) continue;
    const char before = word[word.size() - end.size() - 1];
    if (before == '_' || before == '-' || before == '.' || before == ' ') return true;
  }
  return false;
}

/// time, event_time, created_at, ts, date: whole numbers in such columns may be times.
bool is_name_of_times(std::string_view name) {
  const std::string word = lowered(name);
  for (const std::string_view part : {"time", "date", "epoch"}) {
    if (word.find(part) != std::string::npos) return true;
  }
  return word == "ts" || word.ends_with("_ts") || word.ends_with("_at");
}

bool hardly_repeats(const Sample& sample) {
  return sample.present() >= kFew && sample.different() * 10 >= sample.present() * 9;
}

Guess guess_whole(std::string_view name, const Sample& sample) {
  if (sample.has_codes()) return {Kind::kCategory, "codes: leading zeros, or too many digits"};
  if (is_name_of_codes(name)) return {Kind::kCategory, "whole numbers, named as codes are"};
  if (sample.present() >= kFew && sample.ascends()) return {Kind::kId, "counts the rows"};
  return {Kind::kNumber, "whole numbers"};
}

Guess guess_text(const Sample& sample) {
  if (sample.separated() * 10 >= sample.present() && sample.present() > 1) {
    return {Kind::kList, "values with | between"};
  }
  const bool has_words = sample.words() >= 3 * sample.present();
  if (has_words && sample.different() * 2 > sample.present()) return {Kind::kText, "words"};
  if (sample.numbers().size() * 10 >= sample.present() * 9) {
    return {Kind::kCategory, "numbers, but not all; as number the rest are bad rows"};
  }
  return {Kind::kCategory, "no numbers"};
}

}  // namespace

bool is_label_name(std::string_view name) {
  return std::ranges::find(kLabelNames, lowered(name)) != std::end(kLabelNames);
}

Guess guess(std::string_view name, const Sample& sample) {
  if (sample.present() == 0) return {Kind::kOpen, "no value yet"};
  if (sample.has_lists()) return {Kind::kList, "lists"};
  if (sample.all_dates() && (!sample.all_numbers() || is_name_of_times(name))) {
    return {Kind::kDate, "dates"};
  }
  if (sample.all_whole() && sample.different() <= 2) {
    return {Kind::kCategory, sample.different() == 1 ? "one value" : "two values"};
  }
  Guess found = sample.all_whole()     ? guess_whole(name, sample)
                : sample.all_numbers() ? Guess{Kind::kNumber, "numbers"}
                                       : guess_text(sample);
  if (found.kind == Kind::kCategory && hardly_repeats(sample)) {
    return {Kind::kId, "nearly one value for each row"};
  }
  return found;
}

}  // namespace leveret::schema
