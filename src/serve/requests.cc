#include "serve/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "feature/selector.h"
#include "kernels/dispatch.h"

namespace leveret::serve {
namespace {

constexpr float kNoProbability = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Requests::Requests(std::shared_ptr<const Place> place, std::string_view context)
    : place_(std::move(place)), selectors_(feature::split_list(context)) {
  move_on();
}

Requests::Requests(std::shared_ptr<const Served> served, std::string_view context)
    : selectors_(feature::split_list(context)) {
  become(std::move(served));
}

/// To the newest model.
void Requests::move_on() {
  if (!place_) return;
  const std::uint64_t now = place_->time();
  if (served_ && now == time_) return;
  become(place_->get());
  time_ = now;
}

void Requests::become(std::shared_ptr<const Served> next) {
  // All of it or, where there is no memory, nothing.
  auto parser = std::make_unique<text::Parser>(next->names(), next->parser());
  auto predictor =
      std::make_unique<predict::Predictor>(next->model(), next->names(), kernels::active());
  auto skew = std::make_unique<skew::SkewCounter>(next->model(), next->names());
  limit_ = next->parser().limit;
  skew_ = std::move(skew);
  parser_ = std::move(parser);
  predictor_ = std::move(predictor);
  context_parser_.reset();
  requests_.reset();
  rows_.reset();
  served_ = std::move(next);
  counts_by_field_ = each_field_is_a_namespace();
}

bool Requests::each_field_is_a_namespace() const {
  const std::vector<feature::NamespacePlan>& plans = served_->model()->features().plans();
  return plans.size() == served_->fields() && !served_->model()->features().several_fields();
}

void Requests::start_chunk() {
  chunk_.free_large();
  chunk_.clear();
}

void Requests::parse(std::string_view text, text::Parser& parser) {
  if (text.size() > text::Parser::kMaxChunk) throw BadArgument("the text is larger than 4 GiB");
  start_chunk();
  chunk_.bytes = text;
  parser.parse(chunk_);
}

void Requests::set_context(std::string_view line) {
  clear_context();
  move_on();
  if (!context_parser_) {
    text::ParserOptions options = served_->parser();
    options.shared_label = true;
    context_parser_ = std::make_unique<text::Parser>(served_->names(), options);
  }
  parse(line, *context_parser_);
  if (chunk_.lines() > 1) throw BadArgument("the context is more than one line");
  check_lines(chunk_);
  if (chunk_.examples.empty()) throw BadLine("the context is empty; a line without features is |");
  start_request();
}

schema::RequestRows& Requests::rows() {
  if (rows_) return *rows_;
  const auto& schema = served_->model()->schema();
  if (schema == nullptr) {
    throw BadArgument("the model has learned VW text and knows no columns: give it lines");
  }
  rows_ = std::make_unique<schema::RequestRows>(schema->get());
  return *rows_;
}

void Requests::set_context_row(std::string_view object) {
  clear_context();
  move_on();
  std::string line, why;
  try {
    if (!rows().take_context(object, context_columns_, line, why))
      throw BadLine("the context: " + why);
  } catch (const schema::NoJson& error) {
    throw BadLine(std::string("the context: ") + error.what());
  }
  parse(line, *parser_);
  check_lines(chunk_);
  start_request();
}

void Requests::set_context(int by, std::span<const leveret_feature> features) {
  clear_context();
  move_on();
  start_chunk();
  append(by, features);
  refuse_large();
  by_field_ = by == LEVERET_BY_FIELD;
  start_request();
}

/// The context is the one example of `chunk_`.
void Requests::start_request() {
  if (!requests_) {
    requests_ = std::make_unique<predict::ContextPredictor>(served_->model(), served_->names(),
                                                            kernels::active(), selectors_);
  }
  requests_->set_context(chunk_, 0);
  in_request_ = true;
}

Space Requests::space(int by, std::uint32_t number) const {
  if (by == LEVERET_BY_NAMESPACE) return served_->space_of_hash(number);
  if (number < served_->fields()) return served_->space_of_field(number);
  throw BadArgument(
      fmt::format("there is no field {}: the model has {}", number, served_->fields()));
}

/// An example with these features.
void Requests::append(int by, std::span<const leveret_feature> features) {
  if (by != LEVERET_BY_FIELD && by != LEVERET_BY_NAMESPACE) {
    throw BadArgument(
        fmt::format("by is {}, and must be LEVERET_BY_FIELD or "
                    "LEVERET_BY_NAMESPACE",
                    by));
  }
  need_arrays(served_->parser());
  append_example(
      features, [&](std::uint32_t number) { return space(by, number); }, chunk_);
  chunk_.name_limit = served_->names().size();
}

/// Arrays of more features than a line may have.
void Requests::refuse_large() {
  if (limit_) limit_(served_->names(), chunk_);
  if (chunk_.bad.empty()) return;
  throw BadArgument(
      fmt::format("array {} has more than {} features, with those that the model's --interactions "
                  "and --transform add",
                  chunk_.bad[0].line - 1, text::kMaxFeatures));
}

/// Candidates that are larger than a line only with the context have got NaN.
void Requests::check_together() const {
  if (too_large_ == 0) return;
  throw BadLine(
      fmt::format("{} of the candidates have more than {} features, with those of the context and "
                  "those that the model's --interactions and --transform add",
                  too_large_, text::kMaxFeatures));
}

void Requests::tell_skew() {
  skew_counts_.add(skew_->take_counts());
  for (const skew::SkewFinding& finding : skew_->take_findings()) {
    if (!skew_told_.add(finding)) continue;
    std::string text = skew::to_text(finding);
    std::ranges::replace(text, '\0', ' ');  // C would end there
    skew_text_ += text + "\n";
  }
}

/// Outcomes of the examples of `chunk_`. Candidates and contexts of arrays by field are counted
/// where that says their namespaces.
void Requests::score() {
  outcomes_.clear();
  too_large_ = 0;
  const std::size_t count = chunk_.examples.size();
  skew::SkewCounter* const skew = by_field_ && !counts_by_field_ ? nullptr : skew_.get();
  if (in_request_) {
    too_large_ = requests_->counts().too_large;
    requests_->predict(chunk_, 0, count, outcomes_, skew);
    too_large_ = requests_->counts().too_large - too_large_;
  } else {
    predictor_->predict(chunk_, 0, count, outcomes_, skew);
  }
  tell_skew();
}

void Requests::predict(std::string_view text, std::span<float> probabilities) {
  if (!in_request_) move_on();
  if (!in_request_) by_field_ = false;
  parse(text, *parser_);
  if (chunk_.lines() != probabilities.size()) {
    throw BadArgument(fmt::format("the text has {} lines, but count is {}", chunk_.lines(),
                                  probabilities.size()));
  }
  std::ranges::fill(probabilities, kNoProbability);
  score();
  for (std::size_t i = 0; i < outcomes_.items.size(); ++i) {
    probabilities[chunk_.examples[i].line - 1] = outcomes_.items[i].probability;
  }
  check_lines(chunk_);
  check_together();
}

void Requests::predict_rows(std::string_view text, std::span<float> probabilities) {
  if (!in_request_) move_on();
  if (!in_request_) by_field_ = false;
  schema::RequestRows& rows = this->rows();
  const std::size_t count = std::ranges::count(text, '\n') + (!text.empty() && text.back() != '\n');
  if (count != probabilities.size()) {
    throw BadArgument(
        fmt::format("the text has {} rows, but count is {}", count, probabilities.size()));
  }
  std::ranges::fill(probabilities, kNoProbability);
  std::string lines, bad;
  std::vector<std::size_t> row_of_line;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string why;
    try {
      if (rows.take(text.substr(0, end), context_columns_, lines, why)) row_of_line.push_back(i);
    } catch (const schema::NoJson& error) {
      why = error.what();
    }
    if (!why.empty() && bad.empty()) bad = fmt::format("row {}: {}", i + 1, why);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  parse(lines, *parser_);
  score();
  for (std::size_t i = 0; i < outcomes_.items.size(); ++i) {
    probabilities[row_of_line[chunk_.examples[i].line - 1]] = outcomes_.items[i].probability;
  }
  if (!bad.empty()) throw BadLine(bad);
  check_lines(chunk_);
  check_together();
}

void Requests::predict(int by, const leveret_feature* features, std::span<const std::size_t> ends,
                       std::span<float> probabilities) {
  if (!in_request_) move_on();
  if (!in_request_) by_field_ = false;
  start_chunk();
  if (!std::ranges::is_sorted(ends))
    throw BadArgument("an end must not be less than the one before");
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    append(by, {features + begin, end - begin});
    begin = end;
  }
  refuse_large();
  by_field_ |= by == LEVERET_BY_FIELD;
  score();
  for (std::size_t i = 0; i < outcomes_.items.size(); ++i) {
    probabilities[i] = outcomes_.items[i].probability;
  }
  check_together();
}

}  // namespace leveret::serve
