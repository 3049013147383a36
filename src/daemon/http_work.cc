#include "daemon/http_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "daemon/pieces.h"
#include "predict/prediction_text.h"
#include "store/checksum.h"

namespace leveret::daemon {
namespace {

/// A piece of candidates in JSON, which are short, and take longer to read than lines.
constexpr std::size_t kJsonBytes = kPieceBytes / 4;

bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  constexpr std::string_view kJson = "application/json";
  return std::ranges::equal(type, kJson, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
}

/// Whatever its type is said to be (curl -d says a form): no line of VW text begins so.
bool begins_as_json(std::string_view body) {
  const std::size_t start = body.find_first_not_of(" \t\r\n");
  return start != body.npos && (body[start] == '{' || body[start] == '[');
}

/// As much of what a client has sent as an answer repeats.
std::string_view beginning(std::string_view text) { return text.substr(0, 100); }

}  // namespace

HttpWork::HttpWork(Worker& worker, const Site& site, HttpRequest request, bool draining)
    : worker_(worker), site_(site), request_(std::move(request)), draining_(draining) {}

HttpWork::~HttpWork() = default;

bool HttpWork::go_on() {
  if (done_) return false;
  try {
    if (!started_) {
      started_ = true;
      start();
    } else if (json_lines_) {
      answer_candidates();
    } else if (json_) {
      read_json();
    } else {
      answer_lines();
    }
  } catch (const Refused& refused) {
    refuse(refused.status, refused.why);
  } catch (const BadJson& bad) {
    refuse(400, bad.what());
  } catch (const std::bad_alloc&) {
    refuse(503, "there is not enough memory");
  } catch (const std::exception& error) {
    refuse(500, error.what());
  }
  return !done_;
}

void HttpWork::refuse(unsigned status, const std::string& why) {
  answer_.status = status;
  answer_.type = "application/json";
  answer_.body = fmt::format("{{\"error\":{}}}\n", json_string(why));
  done_ = true;
}

HttpWork::Query HttpWork::read_target() const {
  Query query;
  std::string_view target = request_.target;
  const std::size_t mark = target.find('?');
  query.path = target.substr(0, mark);
  std::string_view rest = mark == target.npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (item.starts_with("model=")) {
      query.model = item.substr(6);
    } else if (item == "context_lines=1" || item == "context_lines") {
      query.context_lines = true;
    } else if (item != "context_lines=0" && !item.empty()) {
      throw Refused{400,
                    fmt::format("{}: no such parameter; the parameters are model and context_lines",
                                beginning(item))};
    }
  }
  return query;
}

void HttpWork::start() {
  const Query query = read_target();
  if (query.path != "/predict") return show(query);
  if (request_.method != "POST") {
    answer_.headers.emplace_back("Allow", "POST");
    throw Refused{405, "/predict takes POST"};
  }
  start_predict(query);
}

void HttpWork::show(const Query& query) {
  struct Page {
    std::string_view path;
    void (HttpWork::*show)(const Query&);
  };
  static constexpr Page kPages[] = {{"/model", &HttpWork::show_model},
                                    {"/metrics", &HttpWork::show_metrics},
                                    {"/healthz", &HttpWork::show_health},
                                    {"/status.json", &HttpWork::show_status},
                                    {"/", &HttpWork::show_status_page}};
  const auto* const page = std::ranges::find(kPages, query.path, &Page::path);
  if (page == std::end(kPages)) {
    std::string paths;
    for (const Page& other : kPages) paths += fmt::format(", {}", other.path);
    throw Refused{404, fmt::format("{}: no such page; the pages are /predict{}",
                                   beginning(query.path), paths)};
  }
  if (request_.method != "GET" && request_.method != "HEAD") {
    answer_.headers.emplace_back("Allow", "GET, HEAD");
    throw Refused{405, fmt::format("{} takes GET", query.path)};
  }
  (this->*page->show)(query);
  done_ = true;
}

void HttpWork::show_model(const Query& query) {
  const std::size_t model = model_of(query);
  check_there(model);
  name_version(model, *worker_.models()[model].place->get());
  answer_.type = "application/json";
  answer_.body = model_json(site_, model) + "\n";
}

void HttpWork::show_metrics(const Query&) {
  answer_.type = "text/plain; version=0.0.4; charset=utf-8";
  answer_.body = metrics_text(site_);
}

void HttpWork::show_health(const Query&) {
  const std::optional<std::size_t> awaited = worker_.models().awaited();
  answer_.status = draining_ || awaited ? 503 : 200;
  answer_.body = draining_ ? "ending\n"
                 : awaited ? fmt::format("waiting for {}\n", worker_.models()[*awaited].name)
                           : "ok\n";
}

void HttpWork::show_status(const Query&) {
  answer_.type = "application/json";
  answer_.body = status_json(site_);
}

void HttpWork::show_status_page(const Query&) {
  answer_.type = "text/html; charset=utf-8";
  answer_.body = status_page();
  answer_.headers.emplace_back("Content-Security-Policy",
                               "default-src 'none'; style-src 'unsafe-inline'; script-src "
                               "'unsafe-inline'; connect-src 'self'; img-src data:");
}

std::size_t HttpWork::model_of(const Query& query) const {
  const auto model = worker_.models().find(query.model);
  if (!model) throw Refused{404, fmt::format("there is no model {}", beginning(query.model))};
  return *model;
}

void HttpWork::start_predict(const Query& query) {
  if (!request_.encoding.empty() && request_.encoding != "identity") {
    throw Refused{415, fmt::format("Content-Encoding {}: send the body as it is",
                                   beginning(request_.encoding))};
  }
  const std::size_t model = model_of(query);
  check_there(model);
  scorer_ = worker_.scorer(model);
  model_ = worker_.models()[model].name;
  scorer_->counts().requests.add();
  name_version(model, scorer_->served());
  if (is_json(request_.type) || begins_as_json(request_.body)) return start_json();
  lines_.emplace(worker_.work(), query.context_lines);
  left_ = request_.body;
}

void HttpWork::check_there(std::size_t model) {
  const NamedModel& named = worker_.models()[model];
  if (!named.place->get()->is_nothing()) return;
  answer_.headers.emplace_back("Retry-After", "1");
  throw Refused{
      503, fmt::format("the model {} has not come yet: nothing is published for it", named.name)};
}

/// Says in the headers which model has answered, and which version of it.
void HttpWork::name_version(std::size_t model, const serve::Served& served) {
  answer_.headers.emplace_back("Leveret-Model", worker_.models()[model].name);
  answer_.headers.emplace_back("Leveret-Fingerprint", store::to_hex(served.fingerprint()));
  if (served.sequence() != modelfile::kNoSequence) {
    answer_.headers.emplace_back("Leveret-Sequence", fmt::format("{}", served.sequence()));
  }
}

void HttpWork::answer_lines() {
  if (!left_.empty()) return lines_->answer(*scorer_, lines_->take_piece(left_), answer_.body);
  lines_->end(answer_.body);
  if (lines_->bad() > 0) {
    answer_.headers.emplace_back("Leveret-Bad-Lines", fmt::format("{}", lines_->bad()));
    answer_.headers.emplace_back("Leveret-First-Bad-Line", lines_->first_bad());
  }
  done_ = true;
}

void HttpWork::start_json() { json_.emplace(request_.body); }

/// The request's parts, and its context.
void HttpWork::read_json() {
  if (json_->read(kPieceBytes)) return;
  json_lines_.emplace(*json_, scorer_->rows(), scorer_->max_line());
  if (!json_->context()) return;
  LineWork& work = worker_.work();
  work.parse(*scorer_, json_lines_->context(), 1, false);
  if (!work.chunk.bad.empty()) throw BadJson(std::string("context: ") + work.chunk.bad[0].what);
  context_ = scorer_->context(work.chunk, 0);
}

void HttpWork::answer_candidates() {
  const std::size_t cost = context_ ? Scorer::context_cost(*context_) : 0;
  if (!json_lines_->next(kJsonBytes, cost, candidates_)) return finish_json();
  LineWork& work = worker_.work();
  const text::ExampleChunk& chunk = work.chunk;
  work.parse(*scorer_, candidates_.text, 1, false);
  scorer_->score(chunk, 0, chunk.examples.size(), context_.get(), work.outcomes);
  const std::vector<predict::LineAnswer> answers = predict::answers_of(chunk);
  if (schema::RequestRows* const rows = scorer_->rows()) {
    scorer_->counts().unknown_namespaces.add(rows->take_unknown());
  }
  std::size_t next = 0, scored = 0, bad = 0;
  for (const std::string& why : candidates_.why) {
    if (candidate_ > 0) predictions_ += ',';
    if (why.empty()) {
      add_answer(answers[next++], scored, bad);
    } else {
      scorer_->counts().bad.add();
      add_error(why);
    }
    ++candidate_;
  }
}

/// Adds the answer of the candidate at hand; counts outcomes and bad lines of its piece on the way.
void HttpWork::add_answer(predict::LineAnswer answer, std::size_t& scored, std::size_t& bad) {
  const LineWork& work = worker_.work();
  if (answer != predict::LineAnswer::kScored) return add_error(work.chunk.bad[bad++].what);
  const float number = scorer_->number(work.outcomes.items[scored++]);
  if (std::isfinite(number)) return predict::append_number(predictions_, number);
  add_error(
      "has no finite prediction: it has too many features with its context, or too large "
      "values");
}

/// Adds an error of the candidate at hand.
void HttpWork::add_error(std::string_view what) {
  predictions_ += "null";
  errors_ += fmt::format("{}{{\"candidate\":{},\"error\":{}}}", errors_.empty() ? "" : ",",
                         candidate_, json_string(what));
}

void HttpWork::finish_json() {
  answer_.type = "application/json";
  answer_.body = fmt::format("{{\"model\":{{{}}},\"predictions\":[{}],\"errors\":[{}]}}\n",
                             version_members(model_, scorer_->served()), predictions_, errors_);
  done_ = true;
}

}  // namespace leveret::daemon
