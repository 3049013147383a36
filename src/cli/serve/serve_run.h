/// One run of `serve`: from options to a server, and what it says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "daemon/net/server.h"

namespace leveret::cli {

struct ServeOptions {
  std::vector<std::string> models, watched, followed;
  std::optional<std::uint16_t> port, http;
  std::string link = "logistic";
  unsigned idle = 300, request_time = 10, drain = 10;  ///< seconds
  std::uint64_t max_memory = 0;  ///< bytes of all models; 0: what the machine has
  bool quiet = false;
  std::optional<LogFormat> log;
  daemon::ServerOptions server;
};

/// Serves until it is told to end. Errors are exceptions, as elsewhere.
void serve(const ServeOptions& options);

}  // namespace leveret::cli
