/// A thread of a server, asked without sockets.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/http_work.h"
#include "daemon/line_protocol.h"
#include "golden_path.h"

namespace leveret::daemon {

struct House {
  explicit House(ScorerOptions scorer = {}, std::size_t context_bytes = 1 << 20,
                 const std::vector<std::string>& files = {"one=" + golden_path("model-v1.lvt"),
                                                          "two=" + golden_path("export-v1.lvt")})
      : models(files),
        options(std::move(scorer)),
        worker(models, options, context_bytes),
        site(models, {&worker}, "9.9") {}

  /// As a connection does.
  std::string answers(std::string_view lines, bool context_lines) {
    LineProtocol protocol(worker, context_lines);
    std::string to;
    while (!lines.empty()) protocol.answer(protocol.take_piece(lines), to);
    protocol.end(to);
    return to;
  }
  /// What POST says to a body of this type. The model is the first one unless it is named.
  std::string posted(const std::string& type, const std::string& body,
                     const std::string& model = {}) {
    HttpWork work(worker, site, {"POST", "/predict?model=" + model, type, {}, body}, false);
    while (work.go_on()) {
    }
    REQUIRE(work.answer().status == 200);
    return work.answer().body;
  }

  Models models;
  ScorerOptions options;
  Worker worker;
  Site site;
};

}  // namespace leveret::daemon
