/// One request of HTTP and its answer, without sockets: what is asked for, and what is said.
///
///     POST /predict[?model=NAME][&context_lines=1]   lines of VW text, or JSON (json_request.h)
///     GET  /metrics /healthz /model[?model=NAME] /status.json /
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/json_lines.h"
#include "daemon/json_request.h"
#include "daemon/line_answers.h"
#include "daemon/site.h"
#include "daemon/worker.h"

namespace leveret::daemon {

struct HttpRequest {
  std::string method, target;
  std::string type;      ///< Content-Type
  std::string encoding;  ///< Content-Encoding
  std::string body;
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Work on a request, in pieces, so that a long one does not keep others waiting. One thread's.
class HttpWork {
 public:
  /// All outlive it. `draining`: the server takes no more, which /healthz tells.
  HttpWork(Worker& worker, const Site& site, HttpRequest request, bool draining);
  ~HttpWork();

  /// Does the next piece; false: the answer is there.
  bool go_on();
  /// No more of it: the answer says that it takes too long.
  void give_up() { refuse(503, "the request takes longer than --request_time"); }
  HttpAnswer& answer() { return answer_; }
  /// Those of the model that it asked; null: it asked none.
  ModelCounts* counts() const { return scorer_ ? &scorer_->counts() : nullptr; }

 private:
  struct Refused {
    unsigned status;
    std::string why;
  };
  struct Query {
    std::string_view path;
    std::string_view model;
    bool context_lines = false;
  };

  Query read_target() const;
  void start();
  void start_predict(const Query& query);
  void start_json();
  void read_json();
  void show(const Query& query);
  void show_model(const Query& query);
  void show_metrics(const Query& query);
  void show_health(const Query& query);
  void show_status(const Query& query);
  void show_status_page(const Query& query);
  std::size_t model_of(const Query& query) const;
  void check_there(std::size_t model);
  void name_version(std::size_t model, const serve::Served& served);
  void answer_lines();
  void answer_candidates();
  void add_answer(predict::LineAnswer answer, std::size_t& scored, std::size_t& bad);
  void add_error(std::string_view what);
  void finish_json();
  void refuse(unsigned status, const std::string& why);

  Worker& worker_;
  const Site& site_;
  HttpRequest request_;
  const bool draining_;
  HttpAnswer answer_;
  bool started_ = false, done_ = false;

  // /predict:
  std::shared_ptr<Scorer> scorer_;
  std::string model_;
  std::string_view left_;  ///< of the lines
  std::optional<LineAnswers> lines_;
  std::optional<JsonRequest> json_;
  std::optional<JsonLineMaker> json_lines_;  ///< once the request is known
  JsonLines candidates_;                     ///< at hand
  std::shared_ptr<Scorer::Context> context_;
  std::string predictions_, errors_;  ///< of JSON
  std::size_t candidate_ = 0;
};

}  // namespace leveret::daemon
